// SPDX-License-Identifier: Apache-2.0
/** What the ledger knows of pods whose renewal was denied before this process began. */
import { formatTime, parseTime } from '../../api/object/time.ts';
import { BoundedMap } from '../../bounded-map.ts';
import type { ListedRecord } from '../../ledger/records/listed.ts';
import type { ClusterView } from '../../refreshing/cluster-view.ts';
import type { RecordedDenial } from '../../refreshing/pod-certificates.ts';
import type { Component } from '../../runtime/component/component.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import {
  createFacts,
  deliveredLeaf,
  recordPages,
  selectorValue,
  type FactsReader,
} from '../../runtime/recording/facts.ts';

/** A PodCertificateRequest asks for 91 days at most (validation.go): an older denial is of no living credential. */
const LONGEST_MS = 7_862_400_000;
/** Denials that wait for their namespace to opt in; the oldest is forgotten first. */
const MOST_DENIALS = 10_000;

type Denied = Omit<RecordedDenial, 'issuedAt' | 'notAfter'>;

/** Tells the view of pods of namespaces that opted in, whose last credential ends. */
export function createRecordedDenials(
  component: Component,
  view: Pick<ClusterView, 'isOptedIn' | 'recorded'>,
  onChange: () => void,
): FactsReader {
  const denials = new BoundedMap<string, Denied>(MOST_DENIALS);
  let after: string | undefined;

  async function gather(signal: AbortSignal): Promise<void> {
    const since = formatTime(serverTime(component) - LONGEST_MS);
    const selector = `kind=denied,since=${since}`;
    for await (const page of recordPages(component, { selector, after }, signal)) {
      for (const listed of page) {
        const denied = deniedIn(listed);
        if (denied !== undefined) denials.set(`${denied.uid} ${denied.signerName}`, denied);
        after = listed.name;
      }
    }
  }

  return createFacts(component, async (signal) => {
    await gather(signal);
    for (const [key, denied] of [...denials.entries()]) {
      if (!view.isOptedIn(denied.namespace)) continue;
      const before = await lastIssued(component, denied, signal);
      denials.delete(key);
      if (before === undefined) continue;
      view.recorded({ ...denied, ...before });
      onChange();
    }
    return true;
  });
}

function deniedIn({ record }: ListedRecord): Denied | undefined {
  if (record?.kind !== 'denied') return undefined;
  const { signer, at, message, requester } = record;
  return { ...requester.pod, signerName: signer.name, deniedAt: parseTime(at), message };
}

/** The newest credential that the pod had when it was denied; nothing if none lives. */
async function lastIssued(
  component: Component,
  { uid, signerName, deniedAt }: Denied,
  signal: AbortSignal,
): Promise<Pick<RecordedDenial, 'issuedAt' | 'notAfter'> | undefined> {
  const now = serverTime(component);
  const of = `podUID=${selectorValue(uid)},signer=${selectorValue(signerName)}`;
  const selector = `kind=issued,${of},expiresAfter=${formatTime(now)}`;
  let last: Pick<RecordedDenial, 'issuedAt' | 'notAfter'> | undefined;
  for await (const page of recordPages(component, { selector }, signal)) {
    for (const listed of page) {
      const leaf = deliveredLeaf(listed);
      if (leaf === undefined || listed.record === undefined) continue;
      const issuedAt = parseTime(listed.record.at);
      if (issuedAt >= deniedAt) continue;
      last = { issuedAt, notAfter: leaf.notAfter };
    }
  }
  return last;
}
