// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '../api/request/conditions.ts';
import { findCondition } from '../api/request/conditions.ts';
import { AWAITING_COMPONENTS, NOT_SERVED } from '../api/serving/report.ts';
import { ACME_GROUP } from '../api/acme/index.ts';
import type { SignerObject } from '../api/signer/cluster-signer.ts';
import { isNamespaced } from '../api/signer/signer.ts';
import { reasonText } from './conditions.ts';
import type { Journey } from './explanation.ts';

/** A ClusterSigner, a Signer, or one of the two of ACME. */
export interface ViewedSigner extends SignerObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Whether its certificates come from an ACME server. */
export function isOfAcme(signer: Pick<ViewedSigner, 'apiVersion'> | undefined): boolean {
  return signer?.apiVersion.startsWith(`${ACME_GROUP}/`) === true;
}

/** The signer of a request, as the cluster has it. */
export interface SignerView {
  readonly signerName: string;
  /** Undefined: no object has this signer name, or its spec is invalid. */
  readonly signer: ViewedSigner | undefined;
  /** Why there is none, where an object has the name: what is wrong with its spec, or that you may not see it. */
  readonly unusable: string | undefined;
}

/** `kubectl describe clustersigner NAME`, or `kubectl describe signer NAME -n NAMESPACE`. */
export function describeCommand({ kind, metadata }: ViewedSigner): string {
  const command = `kubectl describe ${kind.toLowerCase()} ${metadata.name}`;
  return metadata.namespace === undefined ? command : `${command} -n ${metadata.namespace}`;
}

/** `ClusterSigner workload`, or `Signer team-a/workload`. */
export function signerText(signer: ViewedSigner): string {
  const { name, namespace } = signer.metadata;
  return isNamespaced(signer)
    ? `${signer.kind} ${namespace ?? ''}/${name}`
    : `${signer.kind} ${name}`;
}

type Unserved = Pick<Journey, 'state' | 'summary' | 'todo'>;

/** Why nobody answers requests of this signer; undefined when it is served. */
export function whyUnserved(
  { signer, signerName, unusable }: SignerView,
  component: string,
): Unserved | undefined {
  if (signer === undefined) return absent(signerName, unusable);
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready?.status === 'True') return undefined;
  if (isOfOthers(ready, component)) return undefined;
  return {
    state: 'WaitsForSigner',
    summary: `${signerText(signer)} is not Ready: ${ready === undefined ? `${isOfAcme(signer) ? 'acme' : 'authority'} has not looked at it yet` : reasonText(ready)}`,
    todo: [describeCommand(signer), 'countersign check'],
  };
}

function absent(signerName: string, unusable: string | undefined): Unserved {
  if (unusable !== undefined) {
    const todo = ['kubectl get clustersigners   # correct the field that is named'];
    return { state: 'WaitsForSigner', summary: unusable, todo };
  }
  return {
    state: 'WaitsForSigner',
    summary: `no ClusterSigner, Signer or AcmeClusterSigner has the signer name ${signerName}`,
    todo: [
      'kubectl get clustersigners,signers,acmeclustersigners -A   # the signer names that there are',
      'correct signerName, or create a ClusterSigner for it: it is answered then',
    ],
  };
}

/** Its CA is usable and another component than this one does not serve it. */
function isOfOthers(ready: Condition | undefined, component: string): boolean {
  if (ready?.reason === AWAITING_COMPONENTS) return true;
  return ready?.reason === NOT_SERVED && !(ready.message ?? '').includes(`${component}: `);
}
