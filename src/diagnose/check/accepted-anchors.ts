// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { ANCHOR_REJECTED } from '#api/serving/report.ts';
import { upstreamTrust, type AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { authoritiesOf, type SignerState } from '#operations/signer-state.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { judgeTrust } from '#pki/x509/verifier-rules.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, warning, whereSeen, type Outcome } from './finding.ts';

/** `anchors-accepted` */
export function checkAcceptedAnchors({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(states.flatMap(ofSigner), 'every verifier accepts the anchors of every CA'),
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
    .flatMap((each) => judged(each, state.now))
    .filter(({ rule }) => !(isChosen && rule === 'anchor-is-root'))
    .map(({ message }) => message);
}

function judged({ anchors = '' }: AuthorityStatus, now: number): ReturnType<typeof judgeTrust> {
  const read = attempt(() => readAnchors(anchors));
  return read instanceof SignerError ? [] : judgeTrust({ chain: [], anchors: read, now });
}
