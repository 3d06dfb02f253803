// SPDX-License-Identifier: Apache-2.0
/** Makes an input that is a little wrong of inputs that are right. */

/** A whole number from 0 to below `limit`. */
export type Pick = (limit: number) => number;

/** xorshift32: the same seed gives the same run. */
export function picker(seed: number): Pick {
  let state = seed >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
}

export interface Material {
  /** Inputs that reached something new. */
  readonly corpus: readonly Uint8Array[];
  /** Words of the format: tags, OIDs, keywords. */
  readonly words: readonly Uint8Array[];
  /** No input gets longer, in bytes. */
  readonly maxBytes: number;
}

const INTERESTING = [0, 1, 2, 0x1f, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xa0, 0xfe, 0xff];
const MAX_STEPS = 6;

/** One to six random steps away from a random input of the corpus. */
export function mutate({ corpus, words, maxBytes }: Material, pick: Pick): Uint8Array {
  let bytes: Uint8Array = corpus[pick(corpus.length)] ?? new Uint8Array(0);
  const steps = 1 + pick(MAX_STEPS);
  for (let step = 0; step < steps; step++) {
    const other = corpus[pick(corpus.length)] ?? bytes;
    const word = words[pick(Math.max(1, words.length))] ?? Uint8Array.of(pick(256));
    bytes = mutated(bytes, { other, word }, pick);
  }
  return bytes.subarray(0, maxBytes);
}

function mutated(
  bytes: Uint8Array,
  { other, word }: { readonly other: Uint8Array; readonly word: Uint8Array },
  pick: Pick,
): Uint8Array {
  const at = pick(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + pick(16));
  switch (pick(9)) {
    case 0:
      return changed(bytes, at, (value) => value ^ (1 << pick(8)));
    case 1:
      return changed(bytes, at, () => INTERESTING[pick(INTERESTING.length)] ?? 0);
    case 2:
      return changed(bytes, at, (value) => value + pick(9) - 4);
    case 3:
      return splice(bytes, [at, at], word);
    case 4:
      return splice(bytes, [at, Math.min(bytes.length, at + word.length)], word);
    case 5:
      return splice(bytes, [at, to], new Uint8Array(0));
    case 6:
      return splice(bytes, [at, at], bytes.subarray(at, to));
    case 7:
      return splice(bytes, [at, bytes.length], other.subarray(pick(other.length + 1)));
    default:
      return withWholeLengths(bytes, at, pick);
  }
}

function changed(bytes: Uint8Array, at: number, change: (value: number) => number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (at < copy.length) copy[at] = change(copy[at] ?? 0);
  return copy;
}

function splice(bytes: Uint8Array, [from, to]: [number, number], insert: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(to)]);
}

/**
 * Takes the element of DER at `at` out, doubles or empties it, and makes the lengths around it
 * right again, so that what is wrong lies deeper than a length.
 */
function withWholeLengths(bytes: Uint8Array, at: number, pick: Pick): Uint8Array {
  const way = wayTo(bytes, at);
  const inner = way.at(-1);
  if (inner === undefined) return bytes;
  const element = bytes.subarray(inner.start, inner.end);
  const [tag = 0] = element;
  const replaced = [new Uint8Array(0), Buffer.concat([element, element]), Uint8Array.of(tag, 0)];
  let made: Uint8Array = replaced[pick(replaced.length)] ?? element;
  for (let index = way.length - 1; index > 0; index--) {
    const [outer, child] = [way[index - 1], way[index]];
    if (outer === undefined || child === undefined) return bytes;
    const content = Buffer.concat([
      bytes.subarray(outer.body, child.start),
      made,
      bytes.subarray(child.end, outer.end),
    ]);
    made = Buffer.concat([header(bytes[outer.start] ?? 0, content.length), content]);
  }
  const [first] = way;
  return first === undefined ? bytes : splice(bytes, [first.start, first.end], made);
}

interface Element {
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

/** The elements around a position, from the outermost in. */
function wayTo(bytes: Uint8Array, at: number): readonly Element[] {
  const way: Element[] = [];
  let position = 0;
  let end = bytes.length;
  for (let element = elementAt(bytes, position, end); element !== undefined;) {
    if (at >= element.end) position = element.end;
    else {
      way.push(element);
      const isConstructed = ((bytes[element.start] ?? 0) & 0x20) !== 0;
      if (!isConstructed || at < element.body) return way;
      [position, end] = [element.body, element.end];
    }
    element = elementAt(bytes, position, end);
  }
  return way;
}

function elementAt(bytes: Uint8Array, start: number, limit: number): Element | undefined {
  const first = bytes[start + 1];
  if (first === undefined || start + 2 > limit) return undefined;
  const octets = first < 0x80 ? 0 : first & 0x7f;
  if (octets > 3) return undefined;
  let length = octets === 0 ? first : 0;
  for (let index = 0; index < octets; index++) {
    length = length * 256 + (bytes[start + 2 + index] ?? 0);
  }
  const body = start + 2 + octets;
  return body + length > limit ? undefined : { start, body, end: body + length };
}

function header(tag: number, length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(tag, length);
  const octets: number[] = [];
  for (let left = length; left > 0; left >>>= 8) octets.unshift(left & 0xff);
  return Uint8Array.of(tag, 0x80 | octets.length, ...octets);
}
