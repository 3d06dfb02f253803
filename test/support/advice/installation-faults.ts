// SPDX-License-Identifier: Apache-2.0
/** Faults of what was installed. The operator puts each right by itself. */
import type { Fault, Way } from './fault.ts';

const BY_THE_OPERATOR: readonly Way[] = ['the operator'];

/** Roles and policies. One command puts all of them back. */
export const ACCESS_FAULTS: readonly Fault[] = [
  {
    name: 'a ClusterRoleBinding is deleted',
    broken: 'kubectl delete clusterrolebinding countersign-pcr-issuer',
    named: /^roles-bound: clusterrolebinding\/countersign-pcr-issuer: it does not exist/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a RoleBinding is deleted',
    broken: 'kubectl -n countersign-keys delete rolebinding countersign-signer',
    named:
      /^roles-bound: rolebinding\/countersign-signer in namespace countersign-keys: it does not/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a right is taken from a role',
    broken: `kubectl patch clusterrole countersign-attester --type=json -p '[{"op":"remove","path":"/rules/0"}]'`,
    named:
      /^roles-complete: clusterrole\/countersign-attester: it does not grant get clustersigners/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a ClusterRole is deleted',
    broken: 'kubectl delete clusterrole countersign-certificate-request',
    named: /^roles-complete: clusterrole\/countersign-certificate-request: it does not exist/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'an admission policy is edited',
    broken: `kubectl patch validatingadmissionpolicy countersign-events --type=json -p '[{"op":"replace","path":"/spec/validations/0/expression","value":"true"}]'`,
    named: /^policies-equal: \S+\/countersign-events: .*spec\.validations\[0\]\.expression differs/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'an admission policy is deleted',
    broken: 'kubectl delete validatingadmissionpolicy countersign-leases',
    named:
      /^policies-equal: \S+\/countersign-leases: ValidatingAdmissionPolicy \S+ is not installed/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'the binding of an admission policy is deleted',
    broken: 'kubectl delete validatingadmissionpolicybinding countersign-cluster-signers',
    named: /^policies-equal: \S+\/countersign-cluster-signers: \S+Binding \S+ is not installed/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a ServiceAccount is deleted',
    // The operator makes it again at once: the next table has what is left to do then.
    ways: ['manifests', 'Helm'],
    broken: 'kubectl -n countersign-system delete serviceaccount countersign-approver',
    named: /^roles-bound: serviceaccount\/countersign-approver: it does not exist/,
  },
];

/** Deployments and definitions. The last command puts all of them back, so that it comes last. */
export const WORKLOAD_FAULTS: readonly Fault[] = [
  {
    name: 'a ServiceAccount is deleted and made again',
    broken: [
      'kubectl -n countersign-system get serviceaccount countersign-attester -o json >account.json',
      'kubectl -n countersign-system delete serviceaccount countersign-attester',
      // Where the operator was faster, it is there.
      `jq 'del(.metadata.uid, .metadata.resourceVersion)' account.json | kubectl create -f - || kubectl -n countersign-system get serviceaccount countersign-attester`,
    ].join('\n'),
    named: /^components-running: deployment\/countersign-attester: no replica of attester holds/,
  },
  {
    name: 'a component is scaled to 0',
    broken: 'kubectl -n countersign-system scale deployment countersign-signer --replicas=0',
    named: /^components-running: deployment\/countersign-signer: it is scaled to 0/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a definition no longer serves its version',
    broken: `kubectl patch crd signers.countersign.dev --type=json -p '[{"op":"replace","path":"/spec/versions/0/served","value":false}]'`,
    named: /^definitions-installed: \S+\/signers\.countersign\.dev: it does not serve v1alpha1/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'the schema of a definition is edited',
    broken: `kubectl patch crd revocations.countersign.dev --type=json -p '[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-preserve-unknown-fields","value":true}]'`,
    named:
      /^definitions-installed: \S+\/revocations\.countersign\.dev: its \/spec\/versions\/0\/schema\/\S+ /,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a flow schema is deleted',
    broken: 'kubectl delete flowschema countersign',
    named: /^flow-control-equal: flowschema\/countersign: it does not exist/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a priority level is edited',
    broken: `kubectl patch prioritylevelconfiguration countersign --type=merge -p '{"spec":{"limited":{"nominalConcurrencyShares":1}}}'`,
    named: /^flow-control-equal: \S+\/countersign: its \/spec\/limited\/nominalConcurrencyShares/,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a definition is of an older version',
    // Other ways of installing write no version.
    ways: ['Helm'],
    broken:
      'kubectl label --overwrite crd clustersigners.countersign.dev app.kubernetes.io/version=0.0.9',
    named:
      /^definitions-installed: \S+\/clustersigners\.countersign\.dev: it is of version 0\.0\.9/,
  },
  {
    name: 'a component runs another image',
    broken: `kubectl -n countersign-system set image deployment/countersign-approver '*=countersign:0.0.9'`,
    named: /^versions-equal: the components run different images \(approver: countersign:0\.0\.9; /,
    healsBy: BY_THE_OPERATOR,
  },
  {
    name: 'a Deployment is deleted',
    broken: 'kubectl -n countersign-system delete deployment countersign-authority',
    named: /^components-running: deployment\/countersign-authority: it does not exist/,
    healsBy: BY_THE_OPERATOR,
  },
];
