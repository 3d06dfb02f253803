// SPDX-License-Identifier: Apache-2.0
/** The check of the leaves that pods hold. Pure: facts in, outcomes out. */
import { podsBySigner, type Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { leafTrust, revocationsInForce, type LeafTrust } from '#operations/pods/leaf-trust.ts';
import { revocationEffect } from '#operations/pods/revocation-effect.ts';
import { phaseOf, type SignerState } from '#operations/signer-state.ts';
import { shellWord } from '#base/quote.ts';
import type { InstallationFacts, PodFacts } from '../facts.ts';
import { allWell, error, whereSeen, type Outcome } from '../finding.ts';
import { podList, deleteCommand } from './named-pods.ts';

/** `leaves-trusted` */
export function checkLeaves({ pods, signers, namespace }: InstallationFacts): readonly Outcome[] {
  return whereSeen(pods, (facts) =>
    whereSeen(signers, ({ states }) => {
      const { revocations } = facts;
      // There may be a thousand signers, and a hundred thousand pods.
      const mounting = podsBySigner(facts.mounting);
      const requests = Map.groupBy(facts.requests, ({ spec }) => spec.podUID);
      return allWell(
        states.flatMap((state) => ofSigner(state, { mounting, requests, revocations, namespace })),
        'no pod is known to hold a leaf that verifiers reject',
      );
    }),
  );
}

interface PodTrust {
  readonly pod: Pod;
  readonly trust: LeafTrust;
}

interface Evidence extends Pick<PodFacts, 'revocations'>, Pick<InstallationFacts, 'namespace'> {
  /** Pods by signer name. */
  readonly mounting: ReadonlyMap<string, readonly Pod[]>;
  /** PodCertificateRequests by the UID of their pod. */
  readonly requests: ReadonlyMap<string, readonly PodCertificateRequest[]>;
}

function ofSigner(state: SignerState, evidence: Evidence): readonly Outcome[] {
  const { signerName } = state.signer.spec;
  const revocations = revocationsInForce(evidence.revocations, state);
  const judged = (evidence.mounting.get(signerName) ?? []).filter(runs).map((pod) => {
    const requests = evidence.requests.get(pod.metadata.uid) ?? [];
    return { pod, trust: leafTrust(pod, { state, requests, revocations }) };
  });
  const bad = Map.groupBy(
    judged.filter(({ trust }) => trust.kind !== 'trusted' && trust.kind !== 'unknown'),
    ({ trust }) => JSON.stringify([trust.kind, causeIn(trust)]),
  );
  return [
    ...[...bad.values()].map((each) => rejected(state, each, evidence)),
    ...unseenRevoked(state, judged, revocations),
  ];
}

/** Reports whether the volumes of a pod are mounted. pods-requested reports a pod that waits. */
function runs({ status }: Pod): boolean {
  return status?.phase === 'Running';
}

/** Returns the CA or the Revocation that pods have in common. */
function causeIn(trust: LeafTrust): string {
  if (trust.kind === 'revoked') return trust.by.metadata.name;
  return 'authority' in trust ? (trust.authority ?? '') : '';
}

function rejected(
  state: SignerState,
  all: readonly PodTrust[],
  { namespace }: Pick<Evidence, 'namespace'>,
): Outcome {
  const { name } = state.signer.metadata;
  const subject = `clustersigner/${name}`;
  const pods = all.map(({ pod }) => pod);
  const [first] = all;
  const cause = first === undefined ? '' : causeIn(first.trust);
  const restart =
    cause === ''
      ? deleteCommand(pods)
      : `countersign authority taint ${shellWord(name)} ${shellWord(cause)} --restart`;
  const kind = first?.trust.kind;
  if (first?.trust.kind === 'revoked') {
    const why = `Revocation ${cause} has the certificate that they hold; ${revocationEffect(first.trust.by)}`;
    return error(`${podList(pods)}: ${why}`, deleteCommand(pods), subject);
  }
  if (kind === 'doubtful') {
    const why = `they started before CA ${cause} was distrusted, and may hold a leaf of it, which verifiers reject; Kubernetes deletes requests after 15 minutes, so check cannot tell`;
    return error(`${podList(pods)}: ${why}`, restart, subject);
  }
  if (phaseOf(state, cause) === 'Active') {
    const why = `they hold a leaf of CA ${cause}, which signs, and the published bundle lacks its anchor; verifiers reject it`;
    const log = `kubectl -n ${shellWord(namespace)} logs deployment/countersign-attester`;
    return error(`${podList(pods)}: ${why}`, log, subject);
  }
  const of = cause === '' ? '' : `, of CA ${cause}`;
  const why = `they hold a leaf that the published bundle does not cover${of}; verifiers reject it`;
  return error(`${podList(pods)}: ${why}`, restart, subject);
}

/** Returns an outcome for pods that may hold a revoked leaf without evidence for or against it. */
function unseenRevoked(
  state: SignerState,
  judged: readonly PodTrust[],
  revocations: readonly Revocation[],
): readonly Outcome[] {
  const pods = judged.filter(({ trust }) => trust.kind === 'unknown').map(({ pod }) => pod);
  if (pods.length === 0 || revocations.length === 0) return [];
  const { signerName } = state.signer.spec;
  const serials = revocations.flatMap(({ spec }) => spec.certificates.map(({ serial }) => serial));
  return [
    {
      severity: 'unseen',
      subject: `clustersigner/${state.signer.metadata.name}`,
      why: `${podList(pods)}: check cannot tell which leaf they hold, because Kubernetes deletes requests after 15 minutes; the ledger shows whether it is one of the ${serials.length} revoked ones`,
      remediation: `countersign ledger search --signer ${shellWord(signerName)} --serial ${serials[0] ?? ''}`,
    },
  ];
}
