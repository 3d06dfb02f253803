// SPDX-License-Identifier: Apache-2.0
/**
 * The only place that makes elements. Preact escapes markup, and this file shows control, invisible
 * and bidirectional characters of every text and attribute as `\u{…}`, so no page can forget it.
 */
import { h, type VNode } from 'preact';
import { printable, printableLines } from '#base/quote.ts';

/** The content of an element. */
export type Content = VNode | string | number | undefined | readonly Content[];

/** Attributes by their names in HTML and SVG. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Returns an element.
 *
 * @throws Error for an attribute that could run a script, style the page or leave it
 */
export function el(tag: string, attributes: Attributes, ...content: readonly Content[]): VNode {
  const shown = Object.entries(attributes).map(([name, value]): readonly [string, unknown] => {
    if (typeof value !== 'string') return [name, value];
    if (!isSafe(name, value)) throw new Error(`the attribute ${name} of ${tag} leaves the page`);
    return [name, printable(value)];
  });
  return h(tag, Object.fromEntries(shown), ...content.map(shownContent));
}

/** Returns a field of several lines, with control characters of each line as `\u{…}`. */
export function textArea(attributes: Attributes, text: string): VNode {
  return h('textarea', { ...attributes }, printableLines(text));
}

function isSafe(name: string, value: string): boolean {
  if (/^on|^style$|^srcdoc$|^dangerously/i.test(name)) return false;
  if (!['href', 'src', 'action'].includes(name)) return true;
  return /^(?:#|\/(?!\/))/.test(value);
}

function shownContent(content: Content): Content {
  if (typeof content === 'string') return printable(content);
  if (typeof content !== 'object' || !('length' in content)) return content;
  return content.map(shownContent);
}
