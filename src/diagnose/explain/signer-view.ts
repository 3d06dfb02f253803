// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import { findCondition } from '#api/request/conditions.ts';
import { AWAITING_COMPONENTS, NOT_SERVED } from '#api/serving/report.ts';
import { ACME_GROUP } from '#api/acme/names.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { reasonText } from './conditions.ts';
import type { Diagnosis } from './explanation.ts';

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
export interface SignerView {
  readonly signerName: string;
  /** Undefined if no object has this signer name, or its spec is invalid. */
  readonly signer: ViewedSigner | undefined;
  /**
   * Reason why an object with the name has no `signer`: its spec is invalid, or you may not read
   * it.
   */
  readonly unusable: string | undefined;
}

/**
 * Returns `kubectl describe clustersigner NAME`, or `kubectl describe signer NAME -n NAMESPACE`.
 */
export function describeCommand({ kind, metadata }: ViewedSigner): string {
  const command = `kubectl describe ${kind.toLowerCase()} ${metadata.name}`;
  return metadata.namespace === undefined ? command : `${command} -n ${metadata.namespace}`;
}

/** Returns `ClusterSigner workload`, or `Signer team-a/workload`. */
export function signerText(signer: ViewedSigner): string {
  const { name, namespace } = signer.metadata;
  return isNamespaced(signer)
    ? `${signer.kind} ${namespace ?? ''}/${name}`
    : `${signer.kind} ${name}`;
}

type Unserved = Pick<Diagnosis, 'state' | 'summary' | 'remediation'>;

/** Returns why no component answers requests of this signer. Undefined if it is served. */
export function unservedReason(
  { signer, signerName, unusable }: SignerView,
  component: string,
): Unserved | undefined {
  if (signer === undefined) return absent(signerName, unusable);
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready?.status === 'True') return undefined;
  if (isOfOthers(ready, component)) return undefined;
  return {
    state: 'WaitingForSigner',
    summary: `${signerText(signer)} is not Ready: ${ready === undefined ? `${answeringComponent(signer, 'authority')} has not looked at it yet` : reasonText(ready)}`,
    remediation: [describeCommand(signer), 'countersign check'],
  };
}

function absent(signerName: string, unusable: string | undefined): Unserved {
  if (unusable !== undefined) {
    const remediation = ['kubectl get clustersigners   # correct the field that is named'];
    return { state: 'WaitingForSigner', summary: unusable, remediation };
  }
  return {
    state: 'WaitingForSigner',
    summary: `no signer in the cluster has the signer name ${signerName}`,
    remediation: [
      'kubectl get clustersigners,signers,acmeclustersigners,externalclustersigners -A   # the signer names that there are',
      'correct signerName, or create a ClusterSigner for it: it is answered then',
    ],
  };
}

/** Reports whether the CA is usable and only other components do not serve it. */
function isOfOthers(ready: Condition | undefined, component: string): boolean {
  if (ready?.reason === AWAITING_COMPONENTS) return true;
  return ready?.reason === NOT_SERVED && !(ready.message ?? '').includes(`${component}: `);
}
