// SPDX-License-Identifier: Apache-2.0
/**
 * The ValidatingAdmissionPolicies. Each expression has one check(): it costs 350,000 of the 1,000,000 that
 * an expression may cost.
 */
import { DERIVED_PREFIX } from '../../api/signer/signer.ts';
import type { Manifest } from '../roles.ts';

const GROUP = 'admissionregistration.k8s.io/v1';

/** Both versions: Kubernetes 1.36 serves v1beta1 only, and a version that is not served matches nothing. */
const POD_CERTIFICATE_REQUESTS = {
  apiGroups: ['certificates.k8s.io'],
  apiVersions: ['v1', 'v1beta1'],
  operations: ['CREATE'],
  resources: ['podcertificaterequests'],
};

/** The signer names that a policy guards. */
export interface Guarded {
  readonly signers: readonly string[];
  /** Whether the names of all Signers in namespaces are guarded too. */
  readonly namespacedSigners: boolean;
}

const SIGNER = "resource('signers').name(object.spec.signerName)";

/** Only the kubelet of the pod's node, or a user with `request-on-behalf`, creates PodCertificateRequests. */
export function whoCreatesPodCertificateRequests(signers: Guarded): readonly Manifest[] {
  return policy({
    name: 'countersign-pod-certificate-requests',
    rule: POD_CERTIFICATE_REQUESTS,
    signers,
    validations: [
      {
        // NodeRestriction takes only members of system:nodes for nodes, and vouches for those only.
        expression: [
          "(request.userInfo.username == 'system:node:' + object.spec.nodeName",
          "&& 'system:nodes' in request.userInfo.groups)",
          `|| authorizer.group('certificates.k8s.io').${SIGNER}`,
          ".check('request-on-behalf').allowed()",
        ].join('\n'),
        messageExpression: [
          "'only the kubelet of node ' + object.spec.nodeName + ' may create this PodCertificateRequest;'",
          "+ ' mount a podCertificate volume in the pod instead, or ask an administrator to grant '",
          '+ request.userInfo.username',
          "+ ' the verb request-on-behalf on signers.certificates.k8s.io ' + object.spec.signerName",
        ].join('\n'),
      },
    ],
  });
}

/** Opt-in: RBAC decides who may use which signer, by the verb `request`. */
export function whoMayRequest(signers: Guarded): readonly Manifest[] {
  const grant =
    "' may not request certificates of ' + object.spec.signerName\n+ '; ask an administrator to grant it the verb request on signers.certificates.k8s.io ' + object.spec.signerName";
  return [
    ...policy({
      name: 'countersign-who-may-request-for-pods',
      rule: POD_CERTIFICATE_REQUESTS,
      signers,
      validations: [
        {
          expression: [
            'authorizer.serviceAccount(request.namespace, object.spec.serviceAccountName)',
            `.group('certificates.k8s.io').${SIGNER}`,
            ".check('request').allowed()",
          ].join('\n'),
          messageExpression: `'ServiceAccount ' + request.namespace + '/' + object.spec.serviceAccountName\n+ ${grant}`,
        },
      ],
    }),
    ...policy({
      name: 'countersign-who-may-request',
      rule: {
        apiGroups: ['certificates.k8s.io'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['certificatesigningrequests'],
      },
      signers,
      validations: [
        {
          expression: `authorizer.group('certificates.k8s.io').${SIGNER}\n.check('request').allowed()`,
          messageExpression: `request.userInfo.username\n+ ${grant}`,
        },
      ],
    }),
  ];
}

/**
 * The writer of a ClusterSigner decides who gets certificates and which CA is trusted, so to write or delete
 * it they need both verbs on its signer name. For every name: `authority` would create a CA for any.
 */
export function whoWritesClusterSigners(): readonly Manifest[] {
  const name = '(object == null ? oldObject : object).spec.signerName';
  const signer = `resource('signers').name(${name})`;
  const rule = {
    apiGroups: ['countersign.dev'],
    apiVersions: ['v1alpha1'],
    resources: ['clustersigners'],
  };
  return [
    ...policy({
      name: 'countersign-cluster-signers',
      rule: { ...rule, operations: ['CREATE', 'UPDATE', 'DELETE'] },
      validations: (['sign', 'attest'] as const).map((verb) => ({
        expression: `authorizer.group('certificates.k8s.io').${signer}\n.check('${verb}').allowed()`,
        messageExpression: [
          `request.userInfo.username + ' may not ${verb} for ' + ${name}`,
          "+ ', so it may not write or delete its ClusterSigner; ask an administrator to grant it the verbs'",
          `+ ' sign and attest on signers.certificates.k8s.io ' + ${name}`,
        ].join('\n'),
      })),
    }),
    ...whoTakesSecrets(rule),
  ];
}

/**
 * A ClusterSigner takes a Secret's name in the keys' namespace: the first to write it makes `authority` create it, and
 * a later owner of that name is refused. So its writer needs the verb `use`, which nothing of Kubernetes knows, on it.
 */
function whoTakesSecrets(rule: Manifest): readonly Manifest[] {
  const secretOf = (object: string): string =>
    `(has(${object}.spec.authority.managed) ? ${object}.spec.authority.managed.secret : ${object}.spec.authority.secret)`;
  const secret = secretOf('object');
  return policy({
    name: 'countersign-cluster-signer-secrets',
    rule: { ...rule, operations: ['CREATE', 'UPDATE'] },
    conditions: [
      {
        name: 'another-secret',
        expression: `oldObject == null || ${secretOf('oldObject')} != ${secret}`,
      },
    ],
    validations: [
      {
        expression: [
          `authorizer.group('').resource('secrets').namespace(${secret}.namespace)`,
          `.name(${secret}.name).check('use').allowed()`,
        ].join('\n'),
        messageExpression: [
          `request.userInfo.username + ' may not use Secret ' + ${secret}.namespace + '/' + ${secret}.name`,
          "+ ' for a CA; ask an administrator to grant it the verb use on this Secret'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * The attester publishes the anchors that a status names, so writing a status needs `attest`. `authority`
 * has no such permission and is admitted by its name.
 *
 * @param namespace - where the components run
 */
export function whoWritesClusterSignerStatus(namespace: string): readonly Manifest[] {
  return policy({
    name: 'countersign-cluster-signer-status',
    rule: {
      apiGroups: ['countersign.dev'],
      apiVersions: ['v1alpha1'],
      operations: ['UPDATE'],
      resources: ['clustersigners/status'],
    },
    validations: [
      {
        expression: [
          `request.userInfo.username == 'system:serviceaccount:${namespace}:countersign-authority'`,
          `|| authorizer.group('certificates.k8s.io').${SIGNER}`,
          ".check('attest').allowed()",
        ].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not attest for ' + object.spec.signerName",
          "+ ', so it may not write the status of its ClusterSigner, whose anchors everybody would trust;'",
          "+ ' only the authority component does'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * The same for a Signer, whose signer name is derived. The namespace writes the spec; the components act on
 * the status, which `authority` writes.
 *
 * @param namespace - where the components run
 */
export function whoWritesSignerStatus(namespace: string): readonly Manifest[] {
  const name = `'${DERIVED_PREFIX}' + object.metadata.namespace + '.' + object.metadata.name`;
  return policy({
    name: 'countersign-signer-status',
    rule: {
      apiGroups: ['countersign.dev'],
      apiVersions: ['v1alpha1'],
      operations: ['UPDATE'],
      resources: ['signers/status'],
    },
    validations: [
      {
        expression: [
          `request.userInfo.username == 'system:serviceaccount:${namespace}:countersign-authority'`,
          "|| authorizer.group('certificates.k8s.io').resource('signers')",
          `.name(${name})`,
          ".check('attest').allowed()",
        ].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not attest for '",
          `+ ${name}`,
          "+ ', so it may not write the status of its Signer; only the authority component does'",
        ].join('\n'),
      },
    ],
  });
}

interface Policy {
  readonly name: string;
  readonly rule: Manifest;
  /** Absent: everything that the rule matches. */
  readonly signers?: Guarded;
  /** Absent: objects of every namespace. */
  readonly namespaceSelector?: Manifest;
  /** All of them must hold. */
  readonly conditions?: readonly Manifest[];
  readonly variables?: readonly Manifest[];
  /** Absent: it denies. */
  readonly actions?: readonly ('Deny' | 'Warn')[];
  readonly validations: readonly {
    readonly expression: string;
    readonly messageExpression: string;
  }[];
}

/** A ValidatingAdmissionPolicy and its binding. */
export function policy(init: Policy): readonly Manifest[] {
  const { name, rule, signers, conditions = [], validations, namespaceSelector, variables } = init;
  const { actions = ['Deny'] } = init;
  const matchConditions = [
    ...(signers === undefined ? [] : [matchCondition(signers)]),
    ...conditions,
  ];
  const metadata = { name, labels: { 'app.kubernetes.io/name': 'countersign' } };
  return [
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
          resourceRules: [rule],
        },
        ...(matchConditions.length === 0 ? {} : { matchConditions }),
        ...(variables === undefined ? {} : { variables }),
        validations: validations.map((each) => ({ ...each, reason: 'Forbidden' })),
      },
    },
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: name, validationActions: actions },
    },
  ];
}

/** The names are checked signer names, so nothing in them needs escaping in CEL. */
function matchCondition({ signers, namespacedSigners }: Guarded): Manifest {
  const list = signers.map((name) => `'${name}'`).join(', ');
  const named = `object.spec.signerName in [${list}]`;
  const derived = `object.spec.signerName.startsWith('${DERIVED_PREFIX}')`;
  return {
    name: 'our-signers',
    expression: namespacedSigners ? `${named}\n|| ${derived}` : named,
  };
}
