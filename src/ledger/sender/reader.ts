// SPDX-License-Identifier: Apache-2.0
/** Reads records at the port where components append, with the same token. */
import { SignerError } from '#base/errors.ts';
import { printable } from '#base/quote.ts';
import type { LedgerConnection } from './connection.ts';
import { parseJson } from './wire.ts';

/** A read request: a path of the ledger's API and its query, without the undefined values. */
export interface LedgerRead {
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Reads JSON from the ledger. Callers must validate it. */
export interface LedgerReader {
  /**
   * @throws SignerError LEDGER_UNAVAILABLE during an outage, or if this component may not read it
   */
  readonly get: (read: LedgerRead) => Promise<unknown>;
}

/** Read timeout, for a page of 8 MiB over a slow network. */
const READ_TIMEOUT_MILLISECONDS = 60_000;
/** Characters of the ledger's own reason. */
const MAX_REASON_LENGTH = 300;

/** Returns a reader that uses a connection. */
export function createLedgerReader({ call }: Pick<LedgerConnection, 'call'>): LedgerReader {
  return {
    get: async ({ path, query, maxBytes, signal }) => {
      const given = new URLSearchParams();
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) given.set(name, `${value}`);
      const ended = AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MILLISECONDS)]);
      const url = `${path}?${given.toString()}`;
      const { status, text } = await call({ method: 'GET', path: url, maxBytes, signal: ended });
      if (status !== 200) throw notRead(status, text);
      return parseJson(text);
    },
  };
}

/** Returns the error for a ledger that rejects the read. */
function notRead(status: number, text: string): SignerError {
  const message = `the ledger shows no records: ${printable(reasonIn(text))} (HTTP ${status})`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
}

function isStatus(value: unknown): value is { readonly message: string } {
  if (typeof value !== 'object' || value === null) return false;
  return 'message' in value && typeof value.message === 'string';
}

/** Returns the message of a Status (meta/v1), or the text itself. */
function reasonIn(text: string): string {
  let reason = text;
  try {
    const status: unknown = JSON.parse(text);
    if (isStatus(status)) reason = status.message;
  } catch {
    // The response is not JSON, so the text is the reason.
  }
  return reason.slice(0, MAX_REASON_LENGTH).trim();
}
