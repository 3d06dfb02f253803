// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import { findCondition } from '#api/request/conditions.ts';
import { AWAITING_COMPONENTS, KEY_LOST, NOT_SERVED, UNINSTALLED } from '#api/serving/report.ts';
import { LOST_KEY_REMEDY } from '#operations/lost-key.ts';
import { ACME_GROUP } from '#api/acme/names.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { shellWord } from '#base/quote.ts';
import { reasonText } from './conditions.ts';
import { explainAbsentSigner, type SignerReference } from './absent-signer.ts';
import { withoutOutlook, type Diagnosis, type Unapprovable } from './explanation.ts';

/** A ClusterSigner, Signer, AcmeClusterSigner, AcmeSigner, or ExternalClusterSigner. */
export interface ViewedSigner extends SignerObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Reports whether the signer's certificates come from an ACME server. */
export function isOfAcme(signer: Pick<ViewedSigner, 'apiVersion'> | undefined): boolean {
  return signer?.apiVersion.startsWith(`${ACME_GROUP}/`) === true;
}

/**
 * Returns the component that answers requests of this signer.
 *
 * @param own - the one that answers those of ClusterSigners
 */
export function answeringComponent(signer: ViewedSigner | undefined, own: string): string {
  if (isOfAcme(signer)) return 'acme';
  return signer?.kind === 'ExternalClusterSigner' ? 'external-signer' : own;
}

/** The signer of a request, as read from the cluster. */
export interface SignerView extends SignerReference {
  /** Undefined if no object has this signer name, or its spec is invalid. */
  readonly signer: ViewedSigner | undefined;
  /** True if the user may not read the object. */
  readonly isHidden?: true;
}

/**
 * Returns `kubectl describe clustersigner NAME`, or `kubectl describe signer NAME -n NAMESPACE`.
 */
export function describeCommand({
  kind,
  metadata,
}: Pick<ViewedSigner, 'kind' | 'metadata'>): string {
  const command = `kubectl describe ${kind.toLowerCase()} ${metadata.name}`;
  return metadata.namespace === undefined ? command : `${command} -n ${metadata.namespace}`;
}

/** Returns the command that corrects an invalid spec. */
export function editCommand({ kind, metadata }: Pick<SignerObject, 'kind' | 'metadata'>): string {
  const command = `kubectl edit ${kind.toLowerCase()} ${shellWord(metadata.name)}`;
  const { namespace } = metadata;
  const whole = namespace === undefined ? command : `${command} -n ${shellWord(namespace)}`;
  return `${whole}   # correct the field that is named`;
}

/** Returns `ClusterSigner workload`, or `Signer team-a/workload`. */
export function signerText(signer: ViewedSigner): string {
  const { name, namespace } = signer.metadata;
  return isNamespaced(signer)
    ? `${signer.kind} ${namespace ?? ''}/${name}`
    : `${signer.kind} ${name}`;
}

type UnservedDiagnosis = Pick<Diagnosis, 'state' | 'summary' | 'remediation'>;

/** Returns why no component answers requests of this signer. Undefined if it is served. */
export function unservedReason(view: SignerView, component: string): UnservedDiagnosis | undefined {
  const { signer } = view;
  if (signer === undefined) return withoutOutlook(explainAbsentSigner(view));
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready?.status === 'True') return undefined;
  if (isOfOthers(ready, component)) return undefined;
  return {
    state: 'WaitingForSigner',
    summary: `${signerText(signer)} is not Ready: ${ready === undefined ? `${answeringComponent(signer, 'authority')} has not looked at it yet` : reasonText(ready)}`,
    remediation: notReadyRemedy(signer, ready),
  };
}

/** Returns the commands for a signer that is not Ready. */
function notReadyRemedy(signer: ViewedSigner, ready: Condition | undefined): readonly string[] {
  if (ready?.reason === KEY_LOST) return [LOST_KEY_REMEDY];
  return [isInvalid(ready) ? editCommand(signer) : describeCommand(signer), 'countersign check'];
}

/** Reasons of Ready=False for an invalid spec: of authority, and of acme. */
const INVALID: ReadonlySet<string | undefined> = new Set(['InvalidSpec', 'SpecInvalid']);

function isInvalid(ready: Condition | undefined): boolean {
  return ready?.status === 'False' && INVALID.has(ready.reason);
}

/**
 * Returns why no approval helps a request: its signer does not exist or has an invalid spec.
 * Undefined if an approval helps.
 *
 * @param compile - compiles the rules of the spec. Throws SignerError if they are invalid
 */
export function hopelessSigner(
  view: SignerView,
  compile: (spec: ViewedSigner['spec']) => unknown,
): Unapprovable | undefined {
  const { signer } = view;
  if (signer === undefined) return explainAbsentSigner(view);
  const fault = attempt(() => compile(signer.spec));
  const why = fault instanceof SignerError ? `InvalidSpec: ${fault.message}` : invalidityOf(signer);
  if (why === undefined) return undefined;
  const summary = `${signerText(signer)} is not Ready: ${why}; until its spec is corrected, no component answers the request, even if it is approved`;
  return {
    state: 'WaitingForSigner',
    summary,
    // A correction lets the component answer an approved request.
    notices: [summary],
    remediation: [editCommand(signer), 'countersign check'],
  };
}

/** Returns the reason of the Ready condition if the present spec is invalid by it. */
function invalidityOf({ metadata, status }: ViewedSigner): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready === undefined || !isInvalid(ready)) return undefined;
  const { generation = 0 } = metadata;
  const { observedGeneration = generation } = ready;
  // An older condition is about the spec before the correction.
  return observedGeneration < generation ? undefined : reasonText(ready);
}

/** Reports whether the CA is usable and only other components do not serve it. */
function isOfOthers(ready: Condition | undefined, component: string): boolean {
  if (ready?.reason === AWAITING_COMPONENTS) return true;
  const { reason, message = '' } = ready ?? {};
  return reason === NOT_SERVED && message !== UNINSTALLED && !message.includes(`${component}: `);
}
