// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../kube/client/client.ts';
import { resource } from '../../kube/resource/resource.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';

/** deploy/admission/pod-certificate-requests.yaml: only a pod's own kubelet asks on its behalf. */
export const POLICY_NAME = 'countersign-pod-certificate-requests';

const GROUP = { group: 'admissionregistration.k8s.io', version: 'v1' } as const;
const POLICIES = resource({ ...GROUP, plural: 'validatingadmissionpolicies' });
const BINDINGS = resource({ ...GROUP, plural: 'validatingadmissionpolicybindings' });

/** What we read of a ValidatingAdmissionPolicy. */
interface AdmissionPolicy {
  readonly spec?: {
    readonly failurePolicy?: string;
    readonly matchConditions?: readonly { readonly expression: string }[];
  };
}

/** What we read of a ValidatingAdmissionPolicyBinding. */
interface AdmissionPolicyBinding {
  readonly spec?: {
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
    readonly matchResources?: unknown;
  };
}

/**
 * What keeps the policy from guarding these signer names; empty when it does. It is a reminder and
 * no proof: whoever may write policies can write one that lets everybody through.
 *
 * @throws KubeError
 */
export async function policyGaps(
  client: Client,
  signerNames: readonly string[],
): Promise<readonly string[]> {
  if (signerNames.length === 0) return [];
  const read = <T>(from: typeof POLICIES): Promise<T | undefined> =>
    client
      .request<T>({ method: 'GET', path: from.object({ name: POLICY_NAME }) })
      .catch(ignoreNotFound);
  const policy = await read<AdmissionPolicy>(POLICIES);
  const binding = await read<AdmissionPolicyBinding>(BINDINGS);
  if (policy === undefined) return [gap('ValidatingAdmissionPolicy', 'is not installed')];
  if (!isEnforced(binding)) {
    return [gap('ValidatingAdmissionPolicyBinding', 'does not deny everywhere, or is not there')];
  }
  if (policy.spec?.failurePolicy === 'Ignore') {
    return [gap('ValidatingAdmissionPolicy', 'has failurePolicy Ignore')];
  }
  return signerNames
    .filter((name) => !covers(policy, name))
    .map((name) => gap('ValidatingAdmissionPolicy', `does not name ${name}`));
}

function isEnforced(binding: AdmissionPolicyBinding | undefined): boolean {
  const { policyName, validationActions, matchResources } = binding?.spec ?? {};
  // The API server fills matchResources with defaults only when it is there at all.
  const everywhere = matchResources === undefined;
  return policyName === POLICY_NAME && validationActions?.includes('Deny') === true && everywhere;
}

/** As `countersign rbac` prints it: a list of quoted names, or no condition at all. */
function covers({ spec }: AdmissionPolicy, signerName: string): boolean {
  return (spec?.matchConditions ?? []).every(({ expression }) =>
    expression.includes(`'${signerName}'`),
  );
}

function gap(kind: string, fault: string): string {
  return `${kind} ${POLICY_NAME} ${fault}: who may create PodCertificateRequests in a namespace may invent the pod, ServiceAccount and node in them (deploy/admission/pod-certificate-requests.yaml, or countersign rbac with all your signer names)`;
}
