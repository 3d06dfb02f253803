// SPDX-License-Identifier: Apache-2.0
/**
 * The ValidatingAdmissionPolicies. An expression may cost 1,000,000, and each check() costs 350,000
 * of it, so each verb has its own validation.
 */
import { LABELS } from '../names.ts';
import { DERIVED_PREFIX } from '#api/signer/signer.ts';
import { ACME_DERIVED_PREFIX } from '#api/acme/names.ts';
import type { Manifest } from '../roles.ts';
import { authorizedOnSignerCel } from '../signer-access.ts';

const GROUP = 'admissionregistration.k8s.io/v1';

/**
 * Both versions: Kubernetes 1.36 serves only v1beta1, and a version that is not served matches
 * nothing.
 */
const POD_CERTIFICATE_REQUESTS = {
  apiGroups: ['certificates.k8s.io'],
  apiVersions: ['v1', 'v1beta1'],
  operations: ['CREATE'],
  resources: ['podcertificaterequests'],
};

/** The signer names that a policy guards. */
export interface GuardedSigners {
  readonly signers: readonly string[];
  /** Domains whose every signer name is guarded. */
  readonly signerDomains: readonly string[];
  /** The policy also guards the names of all Signers. */
  readonly namespacedSigners: boolean;
}

const SIGNER = 'object.spec.signerName';

/** Name of the policy that guards the signer names of an installation. */
export const POD_REQUEST_POLICY = 'countersign-pod-certificate-requests';

/** Returns the name of the policy that guards the signer names of an author's process. */
export function podRequestPolicyOf(author: string): string {
  return `${POD_REQUEST_POLICY}-${author}`;
}

/** Reports whether a policy guards only the signers that it names. */
export function guardsPodRequests(policyName: string): boolean {
  return policyName === POD_REQUEST_POLICY || policyName.startsWith(podRequestPolicyOf(''));
}

/**
 * Returns the policy that lets only the kubelet of the pod's node, or a user with
 * `request-on-behalf`, create these requests.
 */
export function podRequestsPolicy(
  signers: GuardedSigners,
  name = POD_REQUEST_POLICY,
): readonly Manifest[] {
  return policy({
    name,
    rule: POD_CERTIFICATE_REQUESTS,
    signers,
    validations: [
      {
        // NodeRestriction treats only members of system:nodes as nodes, and restricts only those.
        expression: [
          "(request.userInfo.username == 'system:node:' + object.spec.nodeName",
          "&& 'system:nodes' in request.userInfo.groups)",
          `|| ${authorizedOnSignerCel('request-on-behalf', SIGNER)}`,
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

/**
 * Returns the opt-in policies by which RBAC decides who may use which signer, with the verb
 * `request`. They do not judge CertificateRequests: cert-manager creates those of all users.
 */
export function requestersPolicies(signers: GuardedSigners): readonly Manifest[] {
  const conditions = [matchCondition(signers, [DERIVED_PREFIX, ACME_DERIVED_PREFIX])];
  const grant =
    "' may not request certificates of ' + object.spec.signerName\n+ '; ask an administrator to grant it the verb request on signers.certificates.k8s.io ' + object.spec.signerName";
  return [
    ...policy({
      name: 'countersign-who-may-request-for-pods',
      rule: POD_CERTIFICATE_REQUESTS,
      conditions,
      validations: [
        {
          expression: authorizedOnSignerCel(
            'request',
            SIGNER,
            'authorizer.serviceAccount(request.namespace, object.spec.serviceAccountName)',
          ),
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
      conditions,
      validations: [
        {
          expression: authorizedOnSignerCel('request', SIGNER),
          messageExpression: `request.userInfo.username\n+ ${grant}`,
        },
      ],
    }),
  ];
}

/**
 * Returns the policies for writers of ClusterSigners. A writer decides who gets certificates and
 * which CA is trusted, and so needs both verbs on the signer name to write or delete it. They apply
 * to every name, because `authority` would create a CA for any.
 */
export function clusterSignersPolicy(): readonly Manifest[] {
  const name = '(object == null ? oldObject : object).spec.signerName';
  const rule = {
    apiGroups: ['countersign.dev'],
    apiVersions: ['v1alpha1'],
    resources: ['clustersigners'],
  };
  return [
    ...policy({
      name: 'countersign-cluster-signers',
      rule: { ...rule, operations: ['CREATE', 'UPDATE', 'DELETE'] },
      conditions: [NOT_ENDING],
      validations: (['sign', 'attest'] as const).map((verb) => ({
        expression: authorizedOnSignerCel(verb, name),
        messageExpression: [
          `request.userInfo.username + ' may not ${verb} for ' + ${name}`,
          "+ ', so it may not write or delete its ClusterSigner; ask an administrator to grant it the verbs'",
          `+ ' sign and attest on signers.certificates.k8s.io ' + ${name}`,
        ].join('\n'),
      })),
    }),
    ...signerSecretsPolicy(rule),
  ];
}

/**
 * Returns the policy for the Secret of a ClusterSigner. The first ClusterSigner with a Secret's
 * name in the keys' namespace makes `authority` create it, and a later one is rejected. Its writer
 * therefore needs the verb `use`, which Kubernetes itself does not know, on that name.
 */
function signerSecretsPolicy(rule: Manifest): readonly Manifest[] {
  const secretOf = (object: string): string =>
    `(has(${object}.spec.authority.managed) ? ${object}.spec.authority.managed.secret : ${object}.spec.authority.secret)`;
  const secret = secretOf('object');
  return policy({
    name: 'countersign-cluster-signer-secrets',
    rule: { ...rule, operations: ['CREATE', 'UPDATE'] },
    conditions: [
      {
        name: 'another-secret',
        expression: `oldObject == null || has(oldObject.spec.authority.keyHolder) || ${secretOf('oldObject')} != ${secret}`,
      },
      // The owner of a key in a key holder consents in its configuration.
      { name: 'in-a-secret', expression: '!has(object.spec.authority.keyHolder)' },
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
 * Returns the policy that requires `attest` to write a status, because the attester publishes the
 * anchors that a status names. The policy admits `authority`, which has no such permission, by its
 * username.
 *
 * @param namespace - namespace of the components
 */
export function clusterSignerStatusPolicy(namespace: string): readonly Manifest[] {
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
          `|| ${authorizedOnSignerCel('attest', SIGNER)}`,
        ].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not attest for ' + object.spec.signerName",
          "+ ', so it may not write the status of its ClusterSigner, whose anchors all workloads would trust;'",
          "+ ' only the authority component does'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the same policy for a Signer, whose signer name is derived. The namespace's users write
 * the spec. The components act on the status, which `authority` writes.
 *
 * @param namespace - namespace of the components
 */
export function signerStatusPolicy(namespace: string): readonly Manifest[] {
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
          `|| ${authorizedOnSignerCel('attest', `(${name})`)}`,
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
  readonly rule: Manifest | readonly Manifest[];
  /** Guarded names. If absent, the policy applies to everything that the rule matches. */
  readonly signers?: GuardedSigners;
  /** Selector of namespaces. If absent, objects of every namespace. */
  readonly namespaceSelector?: Manifest;
  /** Match conditions that must all hold. */
  readonly conditions?: readonly Manifest[];
  readonly variables?: readonly Manifest[];
  /** Actions. If absent, the policy denies. */
  readonly actions?: readonly ('Deny' | 'Warn')[];
  readonly validations: readonly {
    readonly expression: string;
    readonly messageExpression: string;
  }[];
}

/** Returns a ValidatingAdmissionPolicy and its binding. */
export function policy(init: Policy): readonly Manifest[] {
  const { name, rule, signers, conditions = [], validations, namespaceSelector, variables } = init;
  const { actions = ['Deny'] } = init;
  const matchConditions = [
    ...(signers === undefined ? [] : [matchCondition(signers)]),
    ...conditions,
  ];
  const metadata = { name, labels: LABELS };
  return [
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: matchConstraints([rule].flat(), namespaceSelector),
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

/** Metadata that an update can change, besides finalizers, with its empty value in CEL. */
const CHANGEABLE = { labels: '{}', annotations: '{}', ownerReferences: '[]' } as const;

/**
 * Matches all writes but those by which an authorized deletion ends. `--cascade=orphan` and
 * `--cascade=foreground` set a finalizer, which the garbage collector removes by an update. The API
 * server rejects new finalizers of an object that is being deleted.
 */
export const NOT_ENDING: Manifest = {
  name: 'not-ending',
  expression: [
    "request.operation != 'UPDATE' || !has(object.metadata.deletionTimestamp)",
    '|| object.spec != oldObject.spec',
    ...Object.entries(CHANGEABLE).map(([field, empty]) => {
      const valueOf = (of: string): string => `${of}.metadata.?${field}.orValue(${empty})`;
      return `|| ${valueOf('object')} != ${valueOf('oldObject')}`;
    }),
  ].join('\n'),
};

/**
 * Returns match constraints with the defaults of the API server. Server-side apply treats the field
 * as one value, so a second field manager would conflict with each default that it does not name.
 */
export function matchConstraints(
  rules: readonly Manifest[],
  namespaceSelector: Manifest = {},
): Manifest {
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector,
    objectSelector: {},
    resourceRules: rules.map((rule) => ({ scope: '*', ...rule })),
  };
}

/**
 * Returns the match condition for guarded names. They are checked signer names, so they need no
 * escaping in CEL.
 *
 * @param prefixes - prefixes of derived names, if the policy guards those
 */
function matchCondition(
  { signers, signerDomains, namespacedSigners }: GuardedSigners,
  prefixes: readonly string[] = [DERIVED_PREFIX],
): Manifest {
  const listed = (names: readonly string[]): string =>
    `[${names.map((name) => `'${name}'`).join(', ')}]`;
  const derived = prefixes.map((prefix) => `${SIGNER}.startsWith('${prefix}')`);
  const clauses = [
    `${SIGNER} in ${listed(signers)}`,
    `${SIGNER}.split('/')[0] in ${listed(signerDomains)}`,
    ...(namespacedSigners ? derived : []),
  ];
  return { name: 'our-signers', expression: clauses.join('\n|| ') };
}
