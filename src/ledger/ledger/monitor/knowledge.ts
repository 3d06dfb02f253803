// SPDX-License-Identifier: Apache-2.0
/** Queries of the monitor to the ledger. */
import { X509Certificate } from 'node:crypto';
import { parseDuration } from '#api/object/duration.ts';
import { keyOf } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { contentsOf, type LedgerStore, type StoredRecord } from '#ledger/index.ts';
import type { LedgerGap, LedgerLimits, MonitoredCa } from './judge.ts';

/** The read operations of a ledger. */
export type ReadLedger = Pick<LedgerStore, 'find' | 'after'>;

/** The recorded CAs of signers' statuses, by fingerprint. */
export class MonitoredCas {
  readonly #known = new Map<string, MonitoredCa>();
  /** CAs without a record yet. `authority` does not wait for their records. */
  missing: readonly string[] = [];
  /** Outlives a failed query for another CA. */
  #isNew = false;

  /** Reads new CAs. Returns whether there is one; the caller then repeats earlier comparisons. */
  async refresh(store: ReadLedger, signers: readonly ClusterSigner[]): Promise<boolean> {
    const missing: string[] = [];
    for (const signer of signers) {
      const { authorities = [], distrusted = [] } = signer.status ?? {};
      const seconds = authorities.map(({ longestLeaf }) => parseDuration(longestLeaf));
      const longestLeafSeconds = Math.max(0, ...seconds);
      for (const { fingerprint } of [...authorities, ...distrusted]) {
        const certificate =
          this.#known.get(fingerprint)?.certificate ?? (await certificateOf(store, fingerprint));
        if (certificate === undefined) {
          missing.push(fingerprint);
          continue;
        }
        this.#isNew ||= !this.#known.has(fingerprint);
        const ca = { certificate, fingerprint, signer: keyOf(signer.metadata), longestLeafSeconds };
        this.#known.set(fingerprint, ca);
      }
    }
    this.missing = missing;
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew;
  }

  all(): readonly MonitoredCa[] {
    return [...this.#known.values()];
  }
}

async function certificateOf(
  store: ReadLedger,
  fingerprint: string,
): Promise<X509Certificate | undefined> {
  const { records } = await store.find({
    terms: [{ kind: 'fingerprint', value: fingerprint }],
    kinds: ['authority'],
    limit: 1,
  });
  const [found] = records;
  const record = found === undefined ? undefined : contentsOf(found).record;
  if (record?.kind !== 'authority') return undefined;
  return new X509Certificate(Buffer.from(record.certificate, 'base64'));
}

/** Maximum of gaps to read. Each one is an outage of the ledger for a component. */
const MAX_GAPS = 1_000;

/** Returns the ledger's beginning, and its counted losses. */
export async function limitsOf(store: ReadLedger): Promise<LedgerLimits> {
  const [first] = await store.after(0, 1);
  const { records: gaps } = await store.find({ terms: [], kinds: ['gap'], limit: MAX_GAPS });
  return {
    beginning: beginningOf(first),
    gaps: gaps.flatMap((found): LedgerGap[] => {
      const { record } = contentsOf(found);
      if (record.kind !== 'gap' || record.of === 'results') return [];
      const { key, lost } = record;
      return [{ key, lost, from: Date.parse(record.from), to: Date.parse(record.to) }];
    }),
  };
}

/**
 * Returns the time of the first append. Retention exceeds the lifetime of leaves, so if the very
 * first record was removed, all older certificates have expired.
 */
function beginningOf(first: StoredRecord | undefined): number | undefined {
  if (first === undefined) return undefined;
  const isFirst = first.log === 1 && first.index === 0;
  return isFirst ? Date.parse(contentsOf(first).appended.at) : -Infinity;
}
