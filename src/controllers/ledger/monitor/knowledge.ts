// SPDX-License-Identifier: Apache-2.0
/** What the monitor asks the ledger. */
import { X509Certificate } from 'node:crypto';
import { parseDuration } from '../../../api/object/duration.ts';
import { keyOf } from '../../../api/object/object.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { contentsOf, type LedgerStore, type StoredRecord } from '../../../ledger/index.ts';
import type { LedgerGap, LedgerLimits, MonitoredCa } from './judge.ts';

/** The part of a ledger that is read. */
export type ReadLedger = Pick<LedgerStore, 'find' | 'after'>;

/** The CAs that signers' statuses list and the ledger has a record of, by fingerprint. */
export class MonitoredCas {
  readonly #known = new Map<string, MonitoredCa>();
  /** Those that the ledger has no record of yet: `authority` does not wait for it. */
  missing: readonly string[] = [];

  /** Returns whether one is new: what was looked at before is looked at again then. */
  async refresh(store: ReadLedger, signers: readonly ClusterSigner[]): Promise<boolean> {
    const missing: string[] = [];
    let isNew = false;
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
        isNew ||= !this.#known.has(fingerprint);
        const ca = { certificate, fingerprint, signer: keyOf(signer.metadata), longestLeafSeconds };
        this.#known.set(fingerprint, ca);
      }
    }
    this.missing = missing;
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

/** Gaps that are read: each is a component that was without the ledger for a while. */
const MOST_GAPS = 1_000;

/** When the ledger began, and what was lost and counted since. */
export async function limitsOf(store: ReadLedger): Promise<LedgerLimits> {
  const [first] = await store.after(0, 1);
  const { records: gaps } = await store.find({ terms: [], kinds: ['gap'], limit: MOST_GAPS });
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

/** Retention is longer than leaves live: where the very first record was removed, what is older has expired. */
function beginningOf(first: StoredRecord | undefined): number | undefined {
  if (first === undefined) return undefined;
  const isFirst = first.log === 1 && first.index === 0;
  return isFirst ? Date.parse(contentsOf(first).appended.at) : -Infinity;
}
