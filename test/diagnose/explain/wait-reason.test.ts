// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign explain` says of requests that nothing in their spec keeps from being answered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import { UNINSTALLED } from '#api/serving/report.ts';
import type { Diagnosis } from '#diagnose/explain/explanation.ts';
import { explainPod } from '#diagnose/explain/pods/pod.ts';
import { unservedReason } from '#diagnose/explain/signer-view.ts';
import { explainSigner } from '#diagnose/explain/signer.ts';
import { withPausedSigning, withLatestWarning } from '#diagnose/explain/waiting/wait-reason.ts';
import { pausedSigning } from '#operations/paused-signing.ts';
import type { SignerState } from '#operations/signer-state.ts';
import {
  HOUR,
  MINUTE,
  OWN,
  at,
  print,
  state,
  type Wanted,
} from '../../operations/signer-states.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const waits: Diagnosis = {
  state: 'WaitingForComponent',
  summary: 'pcr-issuer answers it within seconds',
  timeline: [],
  remediation: ['countersign check'],
};

/** What explain says of a request whose signer is in this state. */
function heldBy(of: SignerState): Diagnosis {
  const held = pausedSigning(of);
  assert.ok(held !== undefined);
  return withPausedSigning(waits, held, of.signer.metadata.name);
}

test('a request without a published anchor waits for attester, and names the anchor', () => {
  const is = heldBy(state({ served: { b: 60 } }));
  assert.equal(is.state, 'WaitingForTrust');
  assert.match(is.summary, new RegExp(`${print('a')} is not in the published bundle yet`));
  assert.match(is.remediation.join('\n'), /is attester running/);
  assert.equal(heldBy(state({ bundle: undefined })).state, 'WaitingForTrust');
});

test('a request whose CA has a new anchor beside an old one says when it is answered', () => {
  const is = heldBy(state({ served: { a: 4, b: 60 } }));
  assert.equal(is.state, 'WaitingForTrust');
  assert.match(is.summary, /was published recently/);
  assert.match(is.remediation.join('\n'), /^no action is needed.*authority show workload prints/);
  assert.equal(is.next?.at, at(6 * MINUTE));
});

test('delays nothing once the anchor is old enough, or when it is the only one', () => {
  for (const served of [{ a: 10, b: 60 }, { a: 0 }]) {
    assert.equal(pausedSigning(state({ served })), undefined);
  }
});

test('a missing or unreadable bundle delays nothing', () => {
  for (const each of [
    state({ spec: { ...OWN, trustBundle: undefined }, bundle: undefined }),
    state({ bundle: 'unread' }),
  ]) {
    assert.equal(pausedSigning(each), undefined);
  }
});

/** A, whose anchor is four minutes old, signs from this time by its status. */
const young = (signsFrom: number, more: Wanted = {}): SignerState =>
  state({
    served: { a: 4, b: 60 },
    authorityFields: { signsFrom: at(signsFrom * MINUTE) },
    ...more,
  });

test('a CA that signs by its status is not held while its anchor is young', () => {
  assert.equal(pausedSigning(young(-4)), undefined);
  const ended = { signsFrom: at(-4 * MINUTE), leavesExpireBy: at(HOUR), notAfter: at(HOUR) };
  const afterShortOne = young(-4, {
    authorities: { a: 'Active', b: 'Retiring' },
    authorityFields: ended,
  });
  assert.equal(pausedSigning(afterShortOne), undefined);
});

test('a distrust alone does not make a CA sign', () => {
  const distrusted = state({ served: { a: 4, b: 60 }, managed: { distrusted: [print('c')] } });
  assert.equal(pausedSigning(distrusted)?.until, at(6 * MINUTE));
});

test('the time in the status counts, also for a user who may not read the bundle', () => {
  assert.equal(pausedSigning(young(3))?.until, at(3 * MINUTE));
  const unread = pausedSigning(young(3, { bundle: 'unread' }));
  assert.equal(unread?.until, at(3 * MINUTE));
  assert.ok(unread.message.includes(print('a')));
  assert.equal(pausedSigning(young(-4, { bundle: 'unread' })), undefined);
});

test('of two prepared CAs the one of the Secret signs next after a lost key', () => {
  const ready = { type: 'Ready', status: 'False', reason: 'KeyLost', message: 'lost' } as const;
  const lost = state({
    authorities: { c: 'Prepared', b: 'Prepared', a: 'Active' },
    served: { a: 60, b: 5, c: 1 },
    conditions: [ready],
  });
  const authorities = lost.signer.status?.authorities?.map((each) =>
    each.fingerprint === print('b') ? { ...each, secretUID: 'uid' } : each,
  );
  const signer = { ...lost.signer, status: { ...lost.signer.status, authorities } };
  const of = (each: SignerState): string | undefined => pausedSigning(each)?.until;
  assert.equal(of({ ...lost, signer: signer as SignerState['signer'] }), at(5 * MINUTE));
});

test('a bundle that lost the anchor since then counts more than the status', () => {
  assert.equal(pausedSigning(young(-5))?.until, at(6 * MINUTE));
  const unpublished = pausedSigning(young(-4, { served: { b: 60 } }));
  assert.match(unpublished?.message ?? '', /is not in the published bundle yet/);
});

test('after an uninstallation no CA is said to sign at a time', () => {
  const message = UNINSTALLED;
  const ready = { type: 'Ready', status: 'False', reason: 'NotServed', message } as const;
  const uninstalled = state({ served: { a: 4, b: 60 }, conditions: [ready] });
  assert.equal(pausedSigning(uninstalled), undefined);
  assert.doesNotMatch(explainSigner(uninstalled).remediation.join('\n'), /signing .* starts at/);
  const { signer } = uninstalled;
  const view = { signerName: signer.spec.signerName, signer, unusable: undefined };
  const why = unservedReason(view, 'pcr-issuer');
  assert.equal(why?.state, 'WaitingForSigner');
  assert.match(why.summary, /Countersign was uninstalled/);
});

test('a signer that is Ready and signs later says from when', () => {
  const { state: is, remediation } = explainSigner(state({ served: { a: 4, b: 60 } }));
  assert.equal(is, 'Ready');
  assert.match(remediation.join('\n'), /was published recently; signing with this CA starts at/);
});

test('what a component said of a request that it could answer is why it waits', () => {
  const latestWarning = {
    at: '2026-01-01T00:10:00Z',
    component: 'pcr-issuer',
    reason: 'ClocksApart',
    message: 'the local clock is 720 s ahead',
  };
  const { summary } = withLatestWarning(waits, latestWarning);
  assert.match(
    summary,
    /^ClocksApart: the local clock is 720 s ahead \(pcr-issuer reported this at/,
  );
  const denied: Diagnosis = { ...waits, state: 'Denied', summary: 'no' };
  assert.equal(withLatestWarning(denied, latestWarning).summary, 'no');
});

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: podRequest().metadata,
  spec: {
    nodeName: 'old-1',
    volumes: [{ projected: { sources: [{ podCertificate: { signerName: 'a.example/b' } }] } }],
  },
};

test('a pod on a node whose kubelet is too old names the node and both versions', () => {
  const is = explainPod(pod, [], { kubelet: { node: 'old-1', version: 'v1.34.6' } });
  assert.equal(is.state, 'WaitingForNode');
  assert.match(is.summary, /kubelet of node old-1 is v1\.34\.6.*1\.35/);
  assert.match(is.remediation.join('\n'), /kubectl cordon old-1/);
});

test('a pod on a node whose kubelet is new enough has only not asked yet', () => {
  const is = explainPod(pod, [], { kubelet: { node: 'n', version: 'v1.35.0' } });
  assert.match(is.summary, /the kubelet has created none/);
});
