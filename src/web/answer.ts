// SPDX-License-Identifier: Apache-2.0

/** What a handler says; `server.ts` turns it into HTTP. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A handler knows nothing of express. A rejection becomes a 500 that says nothing. */
export type Handler = () => Answer | Promise<Answer>;

export const TEXT = 'text/plain; charset=utf-8';
