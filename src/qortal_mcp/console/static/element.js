// Builds elements. What is not an element is shown as text, whatever it says.

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, any>} Attributes */

/**
 * An element with attributes, listeners (`onclick: …`) and children.
 * @type {<T extends keyof HTMLElementTagNameMap>(tag: T, attributes?: Attributes, ...children: Child[]) => HTMLElementTagNameMap[T]}
 */
export const element = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

/**
 * The same for a drawing.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function drawn(tag, attributes = {}, ...children) {
  return filled(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} made
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {T}
 */
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  append(made, children);
  return made;
}

/**
 * @param {Element} place
 * @param {Child} child
 */
export function append(place, child) {
  if (Array.isArray(child)) for (const one of child) append(place, one);
  else if (child !== null && child !== undefined && child !== false)
    place.append(child instanceof Node ? child : String(child));
}

/**
 * Replace what a place shows.
 * @param {Element} place
 * @param {...Child} children
 */
export function fill(place, ...children) {
  place.replaceChildren();
  append(place, children);
}

/**
 * A button that copies a text and says so.
 * @param {string | (() => string)} text
 * @param {string} [label]
 */
export function copyButton(text, label = 'Copy') {
  const button = element('button', { type: 'button', class: 'quiet copy' }, label);
  button.addEventListener('click', async () => {
    const copied = await copy(typeof text === 'string' ? text : text());
    button.textContent = copied ? 'Copied' : 'Press Ctrl+C';
    announce(copied ? 'Copied' : 'Could not copy: select the text and press Ctrl+C');
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // without https a browser offers no clipboard
  }
}

/**
 * A link that saves a text as a file.
 * @param {string} label
 * @param {string} name
 * @param {string} text
 * @param {string} [type]
 */
export function download(label, name, text, type = 'application/json') {
  return element(
    'button',
    {
      type: 'button',
      class: 'quiet',
      onclick: () => {
        const href = URL.createObjectURL(new Blob([text], { type }));
        element('a', { href, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(href), 10_000);
      },
    },
    label,
  );
}

/**
 * Tell a person who listens instead of looking.
 * @param {string} text
 * @param {boolean} [isUrgent]
 */
export function announce(text, isUrgent = false) {
  const place = document.getElementById(isUrgent ? 'alerts' : 'announcements');
  if (place) place.textContent = text;
}

/**
 * Name a page by what it turned out to show.
 * @param {HTMLElement} place of the view
 * @param {string} title
 */
export function retitle(place, title) {
  const heading = place.previousElementSibling;
  if (heading) heading.textContent = title;
  document.title = `${title} · Qortal console`;
}
