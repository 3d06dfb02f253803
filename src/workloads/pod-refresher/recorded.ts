// SPDX-License-Identifier: Apache-2.0
/** Ledger records of pods whose renewal was denied before this process began. */
import { formatTime, parseTime } from '#api/object/time.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import type { ListedRecord } from '#ledger/records/listed.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import type { ClusterView } from '../refresh/cluster-view.ts';
import { podKey, type RecordedDenial } from '../refresh/credentials/pod-certificates.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import {
  createFacts,
  deliveredLeaf,
  recordPages,
  selectorValue,
  type FactsReader,
} from '#requests/recording/facts.ts';

/**
 * Maximum lifetime of a PodCertificateRequest: 91 days (validation.go). An older denial belongs to
 * no valid credential.
 */
const LONGEST_MS = 7_862_400_000;
/**
 * Maximum number of denials that wait for their namespace to opt in. The oldest is dropped first.
 */
const MAX_DENIALS = 10_000;

type DenialEntry = Omit<RecordedDenial, 'notAfter'>;

export interface RecordedDenialsInit {
  readonly component: Component;
  readonly ledger: LedgerReader;
  readonly view: Pick<ClusterView, 'isOptedIn' | 'recorded'>;
  /** Reports whether all namespaces are listed. Before that, none has opted in. */
  readonly isComplete: () => boolean;
  readonly onChange: () => void;
}

/** Adds pods whose last credential expires to the view, for namespaces that opted in. */
export function createRecordedDenials(init: RecordedDenialsInit): FactsReader {
  const { component, ledger, view, isComplete, onChange } = init;
  const denials = new BoundedMap<string, DenialEntry>(MAX_DENIALS);
  let after: string | undefined;

  /**
   * Reads and judges page by page, so that denials in namespaces that never opt in do not evict the
   * others.
   */
  async function gather(signal: AbortSignal): Promise<void> {
    const since = formatTime(serverTime(component) - LONGEST_MS);
    const selector = `kind=denied,since=${since}`;
    for await (const page of recordPages(component, { ledger, selector, after }, signal)) {
      for (const listed of page) {
        const denied = deniedIn(listed);
        if (denied !== undefined) denials.set(podKey(denied), denied);
        after = listed.name;
      }
      await judge(signal);
    }
  }

  async function judge(signal: AbortSignal): Promise<void> {
    for (const [key, denied] of [...denials.entries()]) {
      if (!view.isOptedIn(denied.namespace)) continue;
      const notAfter = await endOf(init, denied, signal);
      denials.delete(key);
      if (notAfter === undefined) continue;
      view.recorded({ ...denied, notAfter });
      onChange();
    }
  }

  return createFacts(component, async (signal) => {
    if (!isComplete()) return false;
    await judge(signal);
    await gather(signal);
    return true;
  });
}

function deniedIn({ record }: ListedRecord): DenialEntry | undefined {
  if (record?.kind !== 'denied') return undefined;
  const { signer, at, message, requester } = record;
  return { ...requester.pod, signerName: signer.name, deniedAt: parseTime(at), message };
}

/**
 * Returns when the last credential of a pod expires. Returns undefined if none is valid, or the pod
 * got another one after the denial.
 */
async function endOf(
  { component, ledger }: Pick<RecordedDenialsInit, 'component' | 'ledger'>,
  { namespace, uid, signerName, deniedAt }: DenialEntry,
  signal: AbortSignal,
): Promise<number | undefined> {
  const now = serverTime(component);
  const of = `podUID=${selectorValue(uid)},signer=${selectorValue(signerName)}`;
  const selector = `kind=issued,${of},expiresAfter=${formatTime(now)}`;
  let notAfter: number | undefined;
  for await (const page of recordPages(component, { ledger, selector }, signal)) {
    for (const listed of page) {
      const leaf = deliveredLeaf(listed);
      const { record } = listed;
      // A user who may create requests may write the UID of a pod in another namespace.
      if (leaf === undefined || record?.requester.pod.namespace !== namespace) continue;
      if (parseTime(record.at) >= deniedAt) return undefined;
      notAfter = leaf.notAfter;
    }
  }
  return notAfter;
}
