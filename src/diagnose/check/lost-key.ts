// SPDX-License-Identifier: Apache-2.0
/** Outcomes about lost keys of CAs, and about the faults that they cause. */
import { findCondition } from '#api/request/conditions.ts';
import { KEY_LOST } from '#api/serving/report.ts';
import { servesSigningRequests, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { LOST_KEY_REMEDY, isKeyLost } from '#operations/lost-key.ts';
import { pausedSigning } from '#operations/paused-signing.ts';
import type { SignerState } from '#operations/signer-state.ts';
import type { Deployment, InstallationFacts } from './facts.ts';
import { causeOf, error, warning, type Outcome } from './finding.ts';

/** Reason of Ready=True while a CA waits for its anchor and the previous one signs from memory. */
const PROPAGATING = 'Propagating';

const subjectOf = ({ metadata }: ClusterSigner): string => `clustersigner/${metadata.name}`;

/** Returns the outcome for a CA that was replaced while its successor does not sign yet. */
export function replacedKey({ signer }: SignerState): Outcome | undefined {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  const { reason, message = '' } = ready ?? {};
  if (reason === KEY_LOST) return error(message, LOST_KEY_REMEDY, subjectOf(signer));
  // An owner replaces a CA in this way. authority does so only if the CA is unusable.
  if (reason !== PROPAGATING || signer.spec.authority.managed === undefined) return undefined;
  const why = `the CA in its Secret was unusable, and a new CA replaced it: ${message}`;
  return warning(why, LOST_KEY_REMEDY, subjectOf(signer));
}

/** Names the outcome for a lost key as the cause of another one. */
export function keyLostCause(signer: ClusterSigner): string {
  return causeOf('ca-usable', subjectOf(signer));
}

/** The ClusterSigners of each component whose replicas are unready while no CA of them signs. */
const SERVED_BY: ReadonlyMap<string, (spec: ClusterSigner['spec']) => boolean> = new Map([
  ['signer', (spec) => servesSigningRequests(spec)],
  ['pcr-issuer', ({ pods }) => pods !== undefined],
  ['certificate-request', ({ certificateRequests }) => certificateRequests !== undefined],
]);

/** Returns why replicas are not ready, if no ClusterSigner of their component signs. */
export function heldCause(
  { signers }: InstallationFacts,
  { component, lacksOnlyReadiness }: Deployment,
): string | undefined {
  const serves = SERVED_BY.get(component);
  if (!('value' in signers) || serves === undefined) return undefined;
  const served = signers.value.states.filter(({ signer }) => serves(signer.spec));
  const [first] = served;
  const isHeld = served.every((each) => pausedSigning(each) !== undefined);
  if (first === undefined || !isHeld || lacksOnlyReadiness !== true) return undefined;
  return isKeyLost(first.signer)
    ? keyLostCause(first.signer)
    : causeOf('signers-ready', subjectOf(first.signer));
}
