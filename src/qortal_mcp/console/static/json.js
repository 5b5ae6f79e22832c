// JSON without loss: numbers that JavaScript would change stay as they were written.

const BLANK = /[ \t\r\n]*/y;
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const WORDS = /** @type {Record<string, unknown>} */ ({ true: true, false: false, null: null });
const DEEPEST = 200;

/** A number whose text a JavaScript number would not give back. */
export class Numeral {
  /** @param {string} source */
  constructor(source) {
    this.source = source;
  }

  toString() {
    return this.source;
  }
}

/** What is wrong with a text that is not JSON, and where. */
export class JsonError extends Error {
  /** @param {string} what @param {string} text @param {number} at */
  constructor(what, text, at) {
    const lines = text.slice(0, at).split('\n');
    super(`${what} in line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}.`);
  }
}

/**
 * The value of a JSON text. Objects have no prototype, so that no member name is special.
 * @param {string} text
 * @returns {any}
 */
export function parse(text) {
  let at = 0;

  /** @param {RegExp} pattern */
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return null;
    at = pattern.lastIndex;
    return found[0];
  };
  /** @param {string} character */
  const takes = (character) => {
    take(BLANK);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  /** @param {string} what @returns {never} */
  const fail = (what) => {
    throw new JsonError(at < text.length ? what : 'The text ends too early', text, at);
  };

  /** @param {number} depth @returns {unknown} */
  const value = (depth) => {
    if (depth > DEEPEST) fail('Too deeply nested');
    take(BLANK);
    if (takes('{')) return object(depth);
    if (takes('[')) return list(depth);
    const string = text[at] === '"' ? take(STRING) : null;
    if (string !== null) return JSON.parse(string);
    const number = take(NUMBER);
    if (number !== null) return String(Number(number)) === number ? Number(number) : new Numeral(number);
    const word = take(WORD);
    return word === null ? fail('Not JSON') : WORDS[word];
  };
  /** @param {number} depth */
  const object = (depth) => {
    const made = Object.create(null);
    if (takes('}')) return made;
    do {
      take(BLANK);
      const start = at;
      const name = take(STRING);
      if (name === null) fail('A member name in double quotes is missing');
      const key = JSON.parse(/** @type {string} */ (name));
      if (key in made) throw new JsonError('The same member stands there twice', text, start);
      if (!takes(':')) fail('A colon is missing');
      made[key] = value(depth + 1);
    } while (takes(','));
    return takes('}') ? made : fail('A comma or } is missing');
  };
  /** @param {number} depth */
  const list = (depth) => {
    /** @type {unknown[]} */
    const made = [];
    if (takes(']')) return made;
    do made.push(value(depth + 1));
    while (takes(','));
    return takes(']') ? made : fail('A comma or ] is missing');
  };

  const found = value(0);
  take(BLANK);
  return at < text.length ? fail('Something follows the end') : found;
}

/**
 * A value as JSON: compact, or indented by so many blanks.
 * @param {unknown} value
 * @param {number} [indent]
 * @returns {string}
 */
export function print(value, indent = 0, depth = 0) {
  if (value instanceof Numeral) return value.source;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const colon = indent ? ': ' : ':';
  const inner = Array.isArray(value)
    ? value.map((one) => print(one, indent, depth + 1))
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([name, one]) => `${JSON.stringify(name)}${colon}${print(one, indent, depth + 1)}`);
  if (!inner.length || !indent) return open + inner.join(',') + close;
  const lead = `\n${' '.repeat(indent * (depth + 1))}`;
  return `${open}${lead}${inner.join(`,${lead}`)}\n${' '.repeat(indent * depth)}${close}`;
}
