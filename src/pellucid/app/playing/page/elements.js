/** Elements of the page: found by their id, and made. */

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function find(id) {
  return /** @type {T} */ (document.getElementById(id));
}

/**
 * Make an element. Attributes that are true stand without a value, those that are false or null are left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/**
 * Make a button that does something when it is pressed.
 * @param {string} text
 * @param {() => void} act
 * @param {Record<string, string | number | boolean | null>} [attributes]
 */
export function makeButton(text, act, attributes = {}) {
  const button = make("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", act);
  return button;
}

/**
 * Return what a function returns, or nothing where the browser forbids it, as some do for files on disk.
 * @template T
 * @param {() => T} run
 * @returns {T | undefined}
 */
export function attempt(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/**
 * Say a problem in one sentence at the top of the page; nothing takes it away.
 * @param {string} sentence
 */
export function showProblem(sentence) {
  find("problem").hidden = sentence === "";
  find("problem").textContent = sentence;
}
