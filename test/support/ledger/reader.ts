// SPDX-License-Identifier: Apache-2.0
import type { LedgerReader } from '#ledger/sender/reader.ts';
import type { RecordedComponent } from '../component/recorded-component.ts';

/** A ledger that the client of a component answers for. */
export function readsThrough({ client }: Pick<RecordedComponent, 'client'>): LedgerReader {
  return { get: (read) => client.request({ method: 'GET', ...read }) };
}
