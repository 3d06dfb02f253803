// SPDX-License-Identifier: Apache-2.0
/** Explains requests that name a signer which no object of the cluster describes. */
import { ACME_DERIVED_PREFIX, acmeDerivedFrom } from '#api/acme/names.ts';
import { READER_SIGNER } from '#api/signer/own-tls.ts';
import { derivedFrom, isDerivedName } from '#api/signer/signer.ts';
import { isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { closest, closestFirst } from '#base/closest-name.ts';
import { quoteList } from '#base/quote.ts';
import type { Unapprovable } from './explanation.ts';

/** A signer name or reference, and the result of its lookup in the cluster. */
export interface SignerReference {
  readonly signerName: string;
  /**
   * Reason why an object with the name has no `signer`: its spec is invalid, or you may not read
   * it.
   */
  readonly unusable: string | undefined;
  /** Command that makes the signer usable. */
  readonly fix?: string;
  /** Names of the signers that you may list, if none of them has `signerName`. */
  readonly otherNames?: readonly string[];
  /** True if `signerName` is the kind and name of an issuerRef, not a signer name. */
  readonly isReference?: true;
}

/** Explains why no signer answers a request, and whether an approval could help it. */
export function explainAbsentSigner(lookup: SignerReference): Unapprovable {
  const { signerName, unusable, fix, isReference } = lookup;
  if (isReference !== true && isKubernetesSignerName(signerName)) return ofKubernetes(signerName);
  if (signerName === READER_SIGNER) return LEDGER_PASS;
  if (unusable !== undefined) {
    const remediation = [fix ?? 'countersign check   # which signers are invalid'];
    const near = closestSigner(signerName, lookup.otherNames ?? []);
    const summary = near === undefined ? unusable : `${unusable} (did you mean ${near}?)`;
    return { state: 'WaitingForSigner', summary, remediation, notices: [summary] };
  }
  return isReference === true ? withoutReferent(signerName) : withoutSigner(lookup);
}

/** Returns the name with the closest path in the closest domain that has a close path. */
function closestSigner(signerName: string, known: readonly string[]): string | undefined {
  const [domain = '', path = ''] = signerName.split('/');
  const parts = known.map((each) => each.split('/'));
  const domains = new Set(parts.map(([first = '']) => first));
  for (const near of closestFirst(domain, [...domains])) {
    const paths = parts.flatMap(([first, second = '']) => (first === near ? [second] : []));
    const meant = closest(path, paths);
    if (meant !== undefined) return `${near}/${meant}`;
  }
  return undefined;
}

/** Reports whether two signer names have the same domain. */
function sharesDomain(one: string, other: string): boolean {
  return one.split('/')[0] === other.split('/')[0];
}

const READS =
  'its requester reads the ledger with it: it needs no approval and gets no certificate';

const LEDGER_PASS: Unapprovable = {
  state: 'Ready',
  summary: READS,
  notices: [READS],
  remediation: [],
};

const EVEN_APPROVED = 'no component of Countersign answers the request, even if it is approved';

const LIST_SIGNERS =
  'kubectl get clustersigners,signers,acmeclustersigners,acmesigners,externalclustersigners -A';

function withoutReferent(signer: string): Unapprovable {
  const summary = `there is no ${signer}`;
  const fix = 'create this signer, or create a request with another spec.issuerRef';
  return {
    state: 'WaitingForSigner',
    summary,
    noApprovalHelps: `${summary}: ${EVEN_APPROVED}; ${fix}`,
    remediation: [`${LIST_SIGNERS}   # lists the signers`, fix],
  };
}

function withoutSigner({ signerName, otherNames = [] }: SignerReference): Unapprovable {
  const near = closestSigner(signerName, otherNames);
  const meant = near === undefined ? '' : ` (did you mean ${near}?)`;
  const summary = `no signer in the cluster has the signer name ${signerName}${meant}`;
  const fix = `create a request with the correct signerName${orCreate(signerName)}`;
  const known = otherNames.length === 0 ? '' : `; the cluster has ${quoteList(otherNames)}`;
  // A similar domain may be of another team, whose program answers an approved request.
  const isTypo = near !== undefined && sharesDomain(near, signerName);
  return {
    state: 'WaitingForSigner',
    summary,
    ...(isTypo || isOfNamespaces(signerName)
      ? { noApprovalHelps: `${summary}: ${EVEN_APPROVED}; ${fix}` }
      : {
          notices: [
            `${summary}${known}: Countersign does not answer the request; approve it if another program serves that name`,
          ],
        }),
    remediation: [
      ...(near === undefined ? [`${LIST_SIGNERS}   # lists the signer names`] : []),
      fix,
    ],
  };
}

/** Returns the object that would have the signer name, as the end of a sentence. */
function orCreate(signerName: string): string {
  const own = derivedFrom(signerName);
  const key = own ?? acmeDerivedFrom(signerName);
  if (key === undefined) {
    return isOfNamespaces(signerName) ? '' : ', or a ClusterSigner with this signer name';
  }
  const [namespace = '', name = ''] = key.split('/');
  return `, or ${own === undefined ? 'AcmeSigner' : 'Signer'} ${name} in namespace ${namespace}`;
}

/** Reports whether only Signers or AcmeSigners have names of this domain. */
function isOfNamespaces(signerName: string): boolean {
  return isDerivedName(signerName) || signerName.startsWith(ACME_DERIVED_PREFIX);
}

/** Reports whether Kubernetes signs for this name only after another party approves. */
export function isApprovedByPerson(signerName: string): boolean {
  return SERVED_BY_KUBERNETES[signerName]?.isApprovedByPerson === true;
}

const CONTROLLER_MANAGER = 'kube-controller-manager';

/** Work of kube-controller-manager. */
interface ServedName {
  /** The end of a sentence. */
  readonly does: string;
  readonly isApprovedByPerson: boolean;
}

const SERVED_BY_KUBERNETES: Readonly<Record<string, ServedName>> = {
  'kubernetes.io/kube-apiserver-client': {
    does: 'signs it after an administrator approves it',
    isApprovedByPerson: true,
  },
  'kubernetes.io/kube-apiserver-client-kubelet': {
    does: 'approves a request of a bootstrapping kubelet or of its node, and signs it',
    isApprovedByPerson: false,
  },
  'kubernetes.io/kubelet-serving': {
    does: 'signs it after an administrator, or an approver of your cluster, approves it',
    isApprovedByPerson: true,
  },
};

function ofKubernetes(signerName: string): Unapprovable {
  const names = Object.keys(SERVED_BY_KUBERNETES);
  const served = SERVED_BY_KUBERNETES[signerName];
  const own = `Countersign does not serve ${signerName}, a signer name of Kubernetes`;
  if (served !== undefined) {
    const summary = `${own}: ${CONTROLLER_MANAGER} ${served.does}`;
    return {
      state: 'WaitingForComponent',
      summary,
      notices: [summary],
      remediation: [
        `kubectl -n kube-system get pods -l component=${CONTROLLER_MANAGER}   # is it running? managed clusters hide it`,
      ],
    };
  }
  const near = closestSigner(signerName, names);
  const meant = near === undefined ? '' : ` (did you mean ${near}?)`;
  const summary = `${own}, and ${CONTROLLER_MANAGER} serves only ${names.join(', ')}${meant}`;
  return {
    state: 'WaitingForSigner',
    summary,
    notices: [summary],
    remediation: [
      'create a request with the correct signerName, or find the program that serves it',
    ],
  };
}
