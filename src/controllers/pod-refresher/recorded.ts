// SPDX-License-Identifier: Apache-2.0
/** What the ledger knows of pods whose renewal was denied before this process began. */
import { formatTime, parseTime } from '../../api/object/time.ts';
import { BoundedMap } from '../../bounded-map.ts';
import type { ListedRecord } from '../../ledger/records/listed.ts';
import type { ClusterView } from '../../refreshing/cluster-view.ts';
import { podKey, type RecordedDenial } from '../../refreshing/pod-certificates.ts';
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

type Denied = Omit<RecordedDenial, 'notAfter'>;

export interface RecordedDenialsInit {
  readonly component: Component;
  readonly view: Pick<ClusterView, 'isOptedIn' | 'recorded'>;
  /** Whether all namespaces are listed: before that none has opted in. */
  readonly isComplete: () => boolean;
  readonly onChange: () => void;
}

/** Tells the view of pods of namespaces that opted in, whose last credential ends. */
export function createRecordedDenials(init: RecordedDenialsInit): FactsReader {
  const { component, view, isComplete, onChange } = init;
  const denials = new BoundedMap<string, Denied>(MOST_DENIALS);
  let after: string | undefined;

  /** A page at a time: those of namespaces that never opt in must not crowd out the others. */
  async function gather(signal: AbortSignal): Promise<void> {
    const since = formatTime(serverTime(component) - LONGEST_MS);
    const selector = `kind=denied,since=${since}`;
    for await (const page of recordPages(component, { selector, after }, signal)) {
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
      const notAfter = await endOf(component, denied, signal);
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

function deniedIn({ record }: ListedRecord): Denied | undefined {
  if (record?.kind !== 'denied') return undefined;
  const { signer, at, message, requester } = record;
  return { ...requester.pod, signerName: signer.name, deniedAt: parseTime(at), message };
}

/** When the last credential of a pod ends; nothing if none lives, or if it got another one after it was denied. */
async function endOf(
  component: Component,
  { namespace, uid, signerName, deniedAt }: Denied,
  signal: AbortSignal,
): Promise<number | undefined> {
  const now = serverTime(component);
  const of = `podUID=${selectorValue(uid)},signer=${selectorValue(signerName)}`;
  const selector = `kind=issued,${of},expiresAfter=${formatTime(now)}`;
  let notAfter: number | undefined;
  for await (const page of recordPages(component, { selector }, signal)) {
    for (const listed of page) {
      const leaf = deliveredLeaf(listed);
      const { record } = listed;
      // Who may create requests may write the UID of a pod of another namespace.
      if (leaf === undefined || record?.requester.pod.namespace !== namespace) continue;
      if (parseTime(record.at) >= deniedAt) return undefined;
      notAfter = leaf.notAfter;
    }
  }
  return notAfter;
}
