// SPDX-License-Identifier: Apache-2.0
import type { ExternalSigner } from '#api/external/external-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { findCondition } from '#api/request/conditions.ts';
import { ANCHOR_REJECTED } from '#api/serving/report.ts';
import { upstreamTrust } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { authoritiesOf, type SignerState } from '#operations/signer-state.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { judgeTrust } from '#pki/x509/verifier-rules.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, warning, whereSeen, type Outcome } from './finding.ts';

/** `anchors-accepted` */
export function checkAcceptedAnchors({
  signers,
  external,
  now,
}: InstallationFacts): readonly Outcome[] {
  const others = 'value' in external ? external.value.signers : [];
  return whereSeen(signers, ({ states, federated = [] }) =>
    allWell(
      [
        ...states.flatMap(ofSigner),
        ...others.flatMap((each) => ofExternal(each, now)),
        ...federated.flatMap((each) => ofFederated(each, now)),
      ],
      'every verifier accepts the anchors of every CA',
    ),
  );
}

function ofExternal({ metadata, spec }: ExternalSigner, now: number): readonly Outcome[] {
  return judged(spec.authority.anchors, now).map(({ message }) =>
    warning(
      message,
      'write the root of the CA to spec.authority.anchors: docs/reference/verifiers.md',
      `externalclustersigner/${metadata.name}`,
    ),
  );
}

function ofFederated({ metadata, spec }: ClusterTrustBundle, now: number): readonly Outcome[] {
  return judged(spec.trustBundle, now).map(({ message }) =>
    warning(
      message,
      'ask the owner of the trust domain to publish its root: docs/reference/verifiers.md',
      `clustertrustbundle/${metadata.name}`,
    ),
  );
}

/** Reports one finding for each rule, in the words of `authority` where it has seen the chain. */
function ofSigner(state: SignerState): readonly Outcome[] {
  const { metadata, spec, status } = state.signer;
  const degraded = findCondition(status?.conditions, 'Degraded');
  const isReported = degraded?.status === 'True' && degraded.reason === ANCHOR_REJECTED;
  const found = isReported ? [degraded.message ?? ''] : problemsOf(state);
  const remediation =
    spec.authority.managed === undefined
      ? 'write the root of the CA to ca.crt, or have its CAs issued again: docs/reference/verifiers.md'
      : `countersign authority show ${metadata.name}`;
  return [...new Set(found)].map((why) =>
    warning(why, remediation, `clustersigner/${metadata.name}`),
  );
}

function problemsOf(state: SignerState): readonly string[] {
  const { managed } = state.signer.spec.authority;
  const upstream = managed?.upstream && upstreamTrust(managed.upstream);
  // The user chose it. Its installation has a warning with the verifiers that reject it.
  const isChosen = upstream !== undefined && upstream.anchor !== 'Root';
  return authoritiesOf(state)
    .filter(({ phase }) => phase === 'Active' || phase === 'Prepared')
    .flatMap(({ anchors = '' }) => judged(anchors, state.now))
    .filter(({ rule }) => !(isChosen && rule === 'anchor-is-root'))
    .map(({ message }) => message);
}

function judged(anchors: string, now: number): ReturnType<typeof judgeTrust> {
  const read = attempt(() => readAnchors(anchors));
  return read instanceof SignerError ? [] : judgeTrust({ chain: [], anchors: read, now });
}
