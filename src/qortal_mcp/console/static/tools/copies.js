// A call in the forms that a person takes elsewhere: a curl command, a command of ours, a link.

import { toolPage } from '../links.js';
import { print } from '../json.js';

/** A word for a POSIX shell. @param {string} text */
export function quoted(text) {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * A token is named, never written.
 * @param {import('../wire.js').Composed} request
 * @param {boolean} hasToken
 */
export function asCurl({ url, headers, body }, hasToken) {
  const lines = [
    `curl -s ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(hasToken ? ['-H "authorization: Bearer $QORTAL_MCP_TOKEN"'] : []),
    `-d ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}

/** @param {string} tool @param {Record<string, unknown>} args @param {boolean} isSample */
export function asCommand(tool, args, isSample) {
  const words = ['qortal-mcp', 'call', tool];
  if (Object.keys(args).length) words.push('--args', quoted(print(args)));
  return [...words, ...(isSample ? ['--sample'] : [])].join(' ');
}

/** @param {string} tool @param {Record<string, unknown>} args */
export function asLink(tool, args) {
  return new URL(toolPage(tool, print(args)), location.href).href;
}
