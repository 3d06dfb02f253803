// SPDX-License-Identifier: Apache-2.0

/**
 * What a rule looks at: a new connection, a call by its HTTP method (`WATCH`: a GET that asks for a
 * watch, `RESUME`: one that goes on from a resourceVersion; `ANY`: every call), or a line of a
 * watch by its type (`LINE`: every line but the one that ends the initial list, which is `SYNCED`).
 */
export const VERBS = [
  'CONNECT',
  'ANY',
  'GET',
  'WATCH',
  'RESUME',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'LINE',
  'ADDED',
  'MODIFIED',
  'DELETED',
  'BOOKMARK',
  'SYNCED',
  'ERROR',
] as const;
export type Verb = (typeof VERBS)[number];

/** Which of the things that a rule looks at it strikes. */
export type When =
  | { readonly kind: 'always' }
  /** The nth, counted from 1. */
  | { readonly kind: 'nth'; readonly count: number }
  /** Every nth. */
  | { readonly kind: 'every'; readonly count: number }
  | { readonly kind: 'first'; readonly count: number }
  | { readonly kind: 'chance'; readonly probability: number };

/** What a rule does. Times in milliseconds. */
export type Fault =
  /** Lets a while pass, and goes on to the next rule. */
  | { readonly kind: 'delay'; readonly least: number; readonly most: number }
  /** Waits for the test to release it; of a line: nothing behind it passes before. */
  | { readonly kind: 'hold' }
  /** Ends the connection, as a killed server does; nothing is forwarded. */
  | { readonly kind: 'cut' }
  /** Half-open: nothing is forwarded, nothing answered, the connection stays. */
  | { readonly kind: 'silence' }
  /** An answer of our own; nothing is forwarded. Of a line: an ERROR event, and the end. */
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter: number | undefined }
  /**
   * Forwards, reads the whole answer of the server, and ends the connection instead of passing it.
   */
  | { readonly kind: 'swallow' }
  /** The same, but the connection stays, silent. */
  | { readonly kind: 'mute' }
  /** Passes half, then ends the connection. */
  | { readonly kind: 'truncate' }
  /** Passes a byte a second from here on. */
  | { readonly kind: 'slow' }
  /**
   * Kills the caller with SIGKILL: `unsent`, and the call is lost; `sent`, and it is forwarded all
   * the same; `answered`, once the server has answered.
   */
  | { readonly kind: 'kill'; readonly moment: 'unsent' | 'sent' | 'answered' }
  /** Of a line: it never comes. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'duplicate' }
  /** Of a line: it comes after the next one. */
  | { readonly kind: 'reorder' }
  /** Of a line: something that is no JSON comes in its place. */
  | { readonly kind: 'garble' };

export interface Rule {
  /** As it was written; how reports name it. */
  readonly text: string;
  /** The door's name, or `*`. */
  readonly client: string;
  readonly verb: Verb;
  readonly path: RegExp;
  readonly when: When;
  readonly fault: Fault;
}
