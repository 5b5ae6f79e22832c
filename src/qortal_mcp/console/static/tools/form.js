// A form made from an input schema. It and its JSON side hold one value; what a field cannot show stays as JSON.

import { element, fill } from '../element.js';
import { JsonError, Numeral, parse, print } from '../json.js';

/** @typedef {import('../wire.js').Schema} Schema */
/** @typedef {Record<string, any>} Value */
/** @typedef {(written: unknown) => void} Write */

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A value that nobody else holds. @param {Value} value @returns {Value} */
function copyOf(value) {
  return parse(print(value));
}

/** Arguments are an object, and nothing else is. @param {unknown} value */
export function isArguments(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Numeral);
}

/** Fields for the arguments of a tool. */
export class ArgumentForm {
  /**
   * @param {Schema} schema
   * @param {Value} value
   * @param {() => void} onChange
   */
  constructor(schema, value, onChange) {
    this.schema = schema;
    this.value = copyOf(value);
    this.onChange = onChange;
    this.isJson = false;
    /** What is wrong with the JSON side, if it cannot be read. */
    this.problem = '';
    this.fields = element('div', { class: 'fields' });
    this.sides = element('div', {
      class: 'choices',
      role: 'group',
      'aria-label': 'How to enter the arguments',
    });
    this.place = element('div', { class: 'arguments' }, this.sides, this.fields);
    this.#show();
  }

  #show() {
    const side = (/** @type {string} */ words, /** @type {boolean} */ isJson) =>
      element(
        'button',
        { type: 'button', 'aria-pressed': String(this.isJson === isJson), onclick: () => this.#turn(isJson) },
        words,
      );
    fill(this.sides, side('Form', false), side('JSON', true));
    fill(this.fields, this.isJson ? this.#json() : this.#fields());
  }

  /** @param {boolean} isJson */
  #turn(isJson) {
    if (this.problem) {
      this.fields.querySelector('textarea')?.focus();
      return;
    }
    this.isJson = isJson;
    this.#show();
    this.fields.querySelector(isJson ? 'textarea' : 'input')?.focus();
  }

  #json() {
    const problem = element('p', { class: 'problem', id: 'json-problem', role: 'alert' });
    const text = element(
      'textarea',
      { rows: 8, spellcheck: 'false', 'aria-label': 'Arguments as JSON', 'aria-describedby': 'json-problem' },
      print(this.value, 2),
    );
    text.addEventListener('input', () => {
      this.problem = '';
      try {
        const value = parse(text.value.trim() || '{}');
        if (!isArguments(value)) throw new Error('Arguments are an object: { … }.');
        this.value = value;
        this.onChange();
      } catch (error) {
        this.problem = error instanceof JsonError || error instanceof Error ? error.message : String(error);
      }
      text.setAttribute('aria-invalid', String(Boolean(this.problem)));
      problem.textContent = this.problem;
    });
    return [text, problem];
  }

  #fields() {
    const known = Object.entries(this.schema.properties ?? {});
    const others = Object.keys(this.value).filter((name) => !known.some(([other]) => other === name));
    if (!known.length && !others.length) return element('p', { class: 'none' }, 'No arguments.');
    return [
      known.map(([name, schema]) => this.#field(name, schema)),
      others.map((name) => this.#field(name, { description: 'This tool has no such argument.' })),
    ];
  }

  /** Marks the required fields that are empty and goes to the first. False if there is none, or the JSON side is shown. */
  marksMissing() {
    if (this.isJson) return false;
    const fields = (this.schema.required ?? [])
      .filter((name) => this.value[name] === undefined)
      .flatMap((name) => this.fields.querySelector(`#argument-${name}`) ?? []);
    for (const field of fields) field.setAttribute('aria-invalid', 'true');
    if (fields[0] instanceof HTMLElement) fields[0].focus();
    return fields.length > 0;
  }

  /** @param {string} name @param {Schema} schema */
  #field(name, schema) {
    const isRequired = this.schema.required?.includes(name) ?? false;
    const id = `argument-${name}`;
    /** @type {Write} */
    const write = (written) => {
      if (written === undefined) delete this.value[name];
      else this.value[name] = written;
      this.fields.querySelector(`#${id}`)?.removeAttribute('aria-invalid');
      this.onChange();
    };
    const made = control(schema, this.value[name], write, {
      id,
      'aria-describedby': `${id}-help`,
      'aria-required': isRequired ? 'true' : null,
    });
    return element(
      'div',
      { class: 'field' },
      element(
        'label',
        { for: id },
        name,
        isRequired ? element('span', { class: 'required' }, ' required') : null,
      ),
      made,
      element('p', { class: 'help', id: `${id}-help` }, helpOf(schema)),
    );
  }
}

/** @param {Schema} schema */
function helpOf(schema) {
  const { description = '', minimum, maximum } = schema;
  const range =
    minimum === undefined ? '' : maximum === undefined ? `From ${minimum}.` : `${minimum} to ${maximum}.`;
  const usual = schema.default === undefined ? '' : `Without it: ${print(schema.default)}.`;
  return [description, range, usual].filter(Boolean).join(' ');
}

/**
 * The input for one argument: by its schema, unless the value there is of another kind.
 * @param {Schema} schema @param {unknown} value @param {Write} write @param {import('../element.js').Attributes} attributes
 */
function control(schema, value, write, attributes) {
  const choices = schema.type === 'boolean' ? [true, false] : schema.enum;
  if (choices && (value === undefined || choices.includes(value)))
    return chooser(choices, value, write, attributes);
  if (schema.type === 'string' && (value === undefined || typeof value === 'string'))
    return textInput(value, (text) => write(text || undefined), attributes);
  if (schema.type === 'integer' || schema.type === 'number') {
    if (value === undefined || typeof value === 'number' || value instanceof Numeral)
      return numberInput(value, write, attributes);
  } else if (schema.type === 'array' && schema.items?.type === 'string' && isLines(value))
    return linesInput(value, write, attributes);
  return jsonInput(value, write, attributes);
}

/** @param {readonly unknown[]} choices @param {unknown} value @param {Write} write @param {import('../element.js').Attributes} attributes */
function chooser(choices, value, write, attributes) {
  const options = [undefined, ...choices];
  return element(
    'select',
    {
      ...attributes,
      onchange: (/** @type {Event} */ event) =>
        write(options[/** @type {HTMLSelectElement} */ (event.target).selectedIndex]),
    },
    options.map((choice) =>
      element('option', { selected: choice === value }, choice === undefined ? 'not set' : String(choice)),
    ),
  );
}

/** @param {string | undefined} value @param {(text: string) => void} write @param {import('../element.js').Attributes} attributes */
function textInput(value, write, attributes) {
  const input = element('input', {
    ...attributes,
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    value: value ?? '',
  });
  input.addEventListener('input', () => write(input.value));
  return input;
}

/** @param {number | Numeral | undefined} value @param {Write} write @param {import('../element.js').Attributes} attributes */
function numberInput(value, write, attributes) {
  // What is not a number is sent as it is written: the server says what is wrong with it.
  const read = (/** @type {string} */ text) => (NUMBER.test(text) ? parse(text) : text || undefined);
  return textInput(value === undefined ? '' : String(value), (text) => write(read(text.trim())), {
    ...attributes,
    inputmode: 'numeric',
  });
}

/** @param {unknown} value @returns {value is string[] | undefined} */
function isLines(value) {
  return (
    value === undefined ||
    (Array.isArray(value) &&
      value.length > 0 &&
      value.every((one) => typeof one === 'string' && one && !/[\r\n]/.test(one)))
  );
}

/** @param {string[] | undefined} value @param {Write} write @param {import('../element.js').Attributes} attributes */
function linesInput(value, write, attributes) {
  const area = element(
    'textarea',
    { ...attributes, rows: 2, spellcheck: 'false', placeholder: 'one per line' },
    (value ?? []).join('\n'),
  );
  area.addEventListener('input', () => {
    const lines = area.value.split('\n').filter(Boolean);
    write(lines.length ? lines : undefined);
  });
  return area;
}

/** Anything, as JSON. @param {unknown} value @param {Write} write @param {import('../element.js').Attributes} attributes */
function jsonInput(value, write, attributes) {
  const area = element(
    'textarea',
    { ...attributes, rows: 2, spellcheck: 'false', class: 'json', placeholder: 'JSON' },
    value === undefined ? '' : print(value),
  );
  area.addEventListener('input', () => {
    const text = area.value.trim();
    try {
      write(text ? parse(text) : undefined);
      area.setCustomValidity('');
    } catch (error) {
      area.setCustomValidity(error instanceof Error ? error.message : String(error));
    }
    area.setAttribute('aria-invalid', String(!area.validity.valid));
  });
  return area;
}
