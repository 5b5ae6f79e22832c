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

/**
 * The command that reads the same chain with the same tools as this server.
 * @param {string} tool @param {Record<string, unknown>} args @param {{program: string[], options: string[]}} server
 */
export function asCommand(tool, args, { program, options }) {
  const given = Object.keys(args).length ? ['--args', print(args)] : [];
  return [...program, 'call', tool, ...given, ...options].map(quoted).join(' ');
}

/** @param {string} tool @param {Record<string, unknown>} args */
export function asLink(tool, args) {
  return new URL(toolPage(tool, print(args)), location.href).href;
}
