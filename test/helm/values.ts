// SPDX-License-Identifier: Apache-2.0
/** Values that installations are made of in these tests, each by what is special about it. */
import { ACME_BAD, ACME_GOOD } from './acme-values.ts';
import { EXTERNAL_BAD, EXTERNAL_GOOD } from './external-values.ts';
import { BAD_FEDERATION, GOOD_FEDERATION } from './federation-values.ts';
import { BAD_INJECTION, GOOD_INJECTION } from './injection-values.ts';
import { BAD_KEY_HOLDER, GOOD_KEY_HOLDER } from './key-holder-values.ts';
import { BAD_KUBERNETES_FIELDS } from './kubernetes-fields-values.ts';
import { BAD_LEDGER, GOOD_LEDGER } from './ledger-values.ts';

const ONE = { signers: [{ name: 'example.com/workload' }] };
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

const SETTINGS = {
  replicas: 3,
  resources: { limits: { cpu: 1, memory: '1Gi' } },
  extraArgs: ['--log-level=debug', '--reserved-prefix=corp:'],
  extraEnv: [
    { name: 'SWITCH', value: 'on' },
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ],
  labels: { team: 'platform', 'example.com/number': '7' },
  annotations: { 'example.com/note': 'a: "b"\n# c {{ d }}' },
  nodeSelector: { 'kubernetes.io/os': 'linux', dedicated: 'true' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'pki', effect: 'NoSchedule' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    {
      maxSkew: 2,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { team: 'platform' } },
    },
  ],
  priorityClassName: 'system-cluster-critical',
  podSecurityContext: { runAsUser: 1_000_650_000, runAsGroup: 7 },
};

/** Values, and the namespace of the release if it is not `default`. */
export const GOOD: Readonly<Record<string, readonly [values: object, namespace?: string]>> = {
  'one signer': [ONE],
  'three signers, with names of their own': [
    {
      signers: [
        { name: 'example.com/workload' },
        { name: 'example.org/people', bundle: '', secret: 'corp.people' },
        { name: 'a.b.c-d.example/x.y-z', bundle: 'secondary.v2' },
      ],
    },
  ],
  'signers that serve some kinds of requests': [
    {
      signers: [
        { name: 'example.com/pods', serves: ['pods'] },
        { name: 'example.com/people', bundle: '', serves: ['requests', 'pods'] },
        { name: 'example.com/bundle', serves: [] },
      ],
    },
  ],
  'no signer serves CertificateSigningRequests': [
    { signers: [{ name: 'example.com/pods', serves: ['pods', 'pods', 'certificateRequests'] }] },
  ],
  'no affinity': [{ ...ONE, defaults: { affinity: {} } }],
  'affinity of one component, and null for another': [
    {
      ...ONE,
      defaults: { affinity: { nodeAffinity: {} } },
      components: { signer: { affinity: null }, approver: { affinity: { podAffinity: {} } } },
    },
  ],
  'null in place of the label that is a default': [
    { ...ONE, dashboards: { enabled: true, labels: { grafana_dashboard: null, folder: 'pki' } } },
  ],
  'quantities of every form, each request within its limit': [
    {
      ...ONE,
      components: {
        signer: {
          resources: {
            requests: { cpu: '+.1e1', memory: '134217728', 'ephemeral-storage': '1.5k' },
            limits: { cpu: '1000m', memory: '128Mi', 'ephemeral-storage': '1500' },
          },
        },
        approver: { resources: { requests: { cpu: '100m' }, limits: { cpu: 0.1 } } },
        authority: { resources: { limits: { memory: '1E' } } },
      },
    },
  ],
  ...GOOD_LEDGER,
  ...GOOD_KEY_HOLDER,
  'every kind of object with a caBundle': [
    {
      ...ONE,
      components: { 'trust-distributor': { enabled: true } },
      caBundles: {
        validatingWebhookConfigurations: ['a', 'b.example.org'],
        mutatingWebhookConfigurations: ['1e3'],
        apiServices: ['v1beta1.metrics.k8s.io'],
        customResourceDefinitions: ['things.example.org'],
      },
    },
  ],
  'one object with a caBundle, and no other kind': [
    {
      ...ONE,
      components: { 'trust-distributor': { enabled: true } },
      caBundles: { apiServices: ['v1.trusting.example.org'] },
    },
  ],
  ...GOOD_FEDERATION,
  'names that YAML would read as something else': [
    {
      signers: [{ name: '1.2/3', bundle: 'on', secret: '0x1' }],
      namespace: '1e3',
      keysNamespace: 'null',
    },
  ],
  'Signers of namespaces beside a ClusterSigner': [
    {
      ...ONE,
      namespacedSigners: {
        enabled: true,
        secrets: [
          { namespace: 'team-a', name: 'ca' },
          { namespace: 'team-b', name: 'ca' },
          { namespace: 'team-a', name: 'ca-2' },
        ],
      },
    },
  ],
  'every signer of a domain': [
    {
      signers: [{ name: 'example.com/a' }, { name: 'a.example.org/b' }],
      signerDomains: ['example.com'],
    },
  ],
  'every signer of two domains, beside those of namespaces': [
    {
      signers: [{ name: 'example.com/a' }, { name: 'a.example.org/b' }],
      signerDomains: ['example.com', 'a.example.org'],
      namespacedSigners: { enabled: true },
    },
  ],
  'Signers of namespaces alone': [{ namespacedSigners: { enabled: true } }],
  'a namespace of the release': [ONE, 'pki'],
  'a namespace of the components, and one of the keys': [
    { ...ONE, namespace: 'signers', keysNamespace: 'vault' },
    'releases',
  ],
  'namespaces that are there': [{ ...ONE, namespaces: { create: false } }],
  'an image by digest': [
    {
      ...ONE,
      image: {
        repository: 'registry.example:5000/pki/countersign',
        digest: DIGEST,
        pullPolicy: 'IfNotPresent',
        pullSecrets: [{ name: 'registry' }],
      },
    },
  ],
  'an image by tag and digest': [{ ...ONE, image: { tag: '1.2.3', digest: DIGEST } }],
  'settings of all components': [{ ...ONE, defaults: SETTINGS }],
  'settings of one component over those of all': [
    {
      ...ONE,
      defaults: SETTINGS,
      components: {
        'pcr-issuer': {
          replicas: 0,
          resources: { requests: { cpu: '0.9' } },
          labels: { team: 'pods' },
        },
        attester: {
          tolerations: [],
          extraArgs: ['--log-level=warn'],
          priorityClassName: '',
          podSecurityContext: { fsGroup: 'none' },
        },
      },
    },
  ],
  ...ACME_GOOD,
  ...EXTERNAL_GOOD,
  ...GOOD_INJECTION,
  'no cert-manager': [{ ...ONE, components: { 'certificate-request': { enabled: false } } }],
  'every optional part': [
    {
      ...ONE,
      whoMayRequest: true,
      networkPolicy: { enabled: true },
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '1m' },
      alerts: { enabled: true, labels: { release: 'prometheus' } },
      dashboards: { enabled: true, labels: { team: 'web' } },
    },
  ],
  'other peers, and no certificate of our own': [
    {
      ...ONE,
      servingSigner: { create: false },
      networkPolicy: { enabled: true, from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
    },
  ],
};

/** Values that are refused: what is wrong, and what the message says of it. */
export const BAD: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'no signer': [{}, /signers: it is empty; name at least one, as in --set/],
  'a list with a hole, as --set makes it': [
    { signers: [null, { name: 'example.com/a' }] },
    /signers\[0\]: it is empty, since --set replaces the whole list; write all signers into a file/,
  ],
  'a tag in the name of the image': [
    { ...ONE, image: { repository: 'registry.example:5000/countersign:0.1.0' } },
    /image\.repository: "registry\.example:5000\/countersign:0\.1\.0" has a tag.*into image\.tag/,
  ],
  'an unknown value': [{ ...ONE, replicas: 3 }, /additional properties 'replicas' not allowed/],
  'an unknown value of a signer': [
    { signers: [{ name: 'example.com/a', secrets: 'x' }] },
    /signers\/0.*additional properties 'secrets' not allowed/,
  ],
  'an unknown component': [
    { ...ONE, components: { signers: {} } },
    /components.*additional properties 'signers' not allowed/,
  ],
  'a component that is always there, left out': [
    { ...ONE, components: { signer: { enabled: false } } },
    /components\/signer.*additional properties 'enabled' not allowed/,
  ],
  'a wildcard for a signer': [
    { signers: [{ name: 'example.com/*' }] },
    /signers\/0\/name.*'example\.com\/\*' does not match pattern '\^\[a-z0-9/,
  ],
  'a quote in a signer name': [
    { signers: [{ name: "example.com/a'] || true || x in ['" }] },
    /signers\/0\/name.*does not match pattern/,
  ],
  'a wildcard for a Secret': [
    { signers: [{ name: 'example.com/a', secret: '*' }] },
    /signers\/0\/secret.*'\*' does not match pattern/,
  ],
  'a signer name without a domain': [
    { signers: [{ name: 'workload' }] },
    /signers\[0\]\.name: "workload" is no signer name; write <domain>\/<path>.*such as example\.com\/workload/,
  ],
  'a signer name with two slashes': [
    { signers: [{ name: 'example.com/a/b' }] },
    /signers\[0\]\.name: "example\.com\/a\/b" is no signer name; write/,
  ],
  'a signer name of Kubernetes': [
    { signers: [{ name: 'kubernetes.io/kube-apiserver-client' }] },
    /"kubernetes\.io\/kube-apiserver-client" is in a domain reserved for Kubernetes; write/,
  ],
  'the derived name of a Signer': [
    { signers: [{ name: 'signers.countersign.dev/team-a.web' }] },
    /"signers\.countersign\.dev\/team-a\.web" is the derived name of a Signer; set namespacedSigners/,
  ],
  'a domain with a path': [
    { ...ONE, signerDomains: ['example.com/a'] },
    /signer domain "example\.com\/a" is not a domain; write it without a path/,
  ],
  'a domain without a signer': [
    { ...ONE, signerDomains: ['com'] },
    /signer domain "com" is not a domain; write it without a path/,
  ],
  'a domain of which nothing is served': [
    { ...ONE, signerDomains: ['a.example.com'] },
    /signer domain "a\.example\.com" has none of the signers that are named; name one, such as a\.example\.com\/workload/,
  ],
  'the domain of the signers of namespaces': [
    { ...ONE, signerDomains: ['signers.countersign.dev'] },
    /signer domain "signers\.countersign\.dev" has signers that are not yours; write a domain of your own/,
  ],
  'a signer named twice': [
    { signers: [{ name: 'example.com/a' }, { name: 'example.com/a', secret: 'b' }] },
    /signers\[1\]\.name: "example\.com\/a" is named twice; leave one of them out/,
  ],
  'two signers with one Secret': [
    { signers: [{ name: 'example.com/a' }, { name: 'example.org/a' }] },
    /signers\[1\]\.secret: "a-ca" is also that of signers\[0\].*write another name into signers\[1\]\.secret/,
  ],
  'the name of our own signer': [
    { signers: [{ name: 'countersign.dev/serving' }] },
    /"countersign\.dev\/serving" is always served; leave it out/,
  ],
  'the Secret of our own CA': [
    { signers: [{ name: 'example.com/a', secret: 'countersign-serving-ca' }] },
    /signers\[0\]\.secret: "countersign-serving-ca" is that of the components' own CA; write another/,
  ],
  'a Secret of another namespace': [
    { signers: [{ name: 'example.com/a', secret: 'other/ca' }] },
    /signers\[0\]\.secret: "other\/ca" names a namespace; write the name alone.*countersign-keys/,
  ],
  'no valid bundle': [
    { signers: [{ name: 'example.com/a', bundle: '-x' }] },
    /signers\[0\]\.bundle: "-x" is not a valid name; write one such as primary/,
  ],
  'keys beside the components': [
    { ...ONE, keysNamespace: 'countersign-system' },
    /keysNamespace: "countersign-system" is the namespace of the components; write another one/,
  ],
  'keys in the namespace of Kubernetes': [
    { ...ONE, keysNamespace: 'kube-system' },
    /keysNamespace: "kube-system" is for Kubernetes itself; write another one/,
  ],
  'keys in the namespace of everybody': [
    { ...ONE, keysNamespace: 'default' },
    /keysNamespace: "default" is shared; write a separate namespace/,
  ],
  'a Secret of a Signer beside the components': [
    {
      namespacedSigners: {
        enabled: true,
        secrets: [{ namespace: 'countersign-system', name: 'x' }],
      },
    },
    /namespacedSigners\.secrets\[0\]\.namespace: no Signer is in "countersign-system"; write/,
  ],
  'Secrets of Signers that are not served': [
    { ...ONE, namespacedSigners: { secrets: [{ namespace: 'team-a', name: 'x' }] } },
    /namespacedSigners\.secrets: they are for Signers; set namespacedSigners\.enabled=true/,
  ],
  // networking/v1, NetworkPolicyIngressRule: an empty list matches all sources.
  'a policy without a peer': [
    { ...ONE, networkPolicy: { enabled: true, from: [] } },
    /networkPolicy\.from: it is empty, which would admit every peer; name at least one, or write/,
  ],
  ...BAD_KUBERNETES_FIELDS,
  ...ACME_BAD,
  ...EXTERNAL_BAD,
  ...BAD_INJECTION,
  ...BAD_LEDGER,
  ...BAD_KEY_HOLDER,
  ...BAD_FEDERATION,
  // apimachinery, resource.Quantity. The API server's validation of ResourceRequirements.
  'a space in a quantity': [
    { ...ONE, components: { signer: { resources: { requests: { cpu: '500 m' } } } } },
    /components\.signer\.resources\.requests\.cpu: "500 m" is not a quantity; write one such as 500m, 1\.5 or 256Mi/,
  ],
  'a unit that Kubernetes does not know': [
    { ...ONE, defaults: { resources: { limits: { memory: '256MB' } } } },
    /defaults\.resources\.limits\.memory: "256MB" is not a quantity; write/,
  ],
  'a negative quantity': [
    { ...ONE, components: { signer: { resources: { limits: { cpu: -1 } } } } },
    /components\.signer\.resources\.limits\.cpu: "-1" is not a quantity; write/,
  ],
  'a request above its limit': [
    {
      ...ONE,
      components: { signer: { resources: { requests: { cpu: 2 }, limits: { cpu: '1900m' } } } },
    },
    /components\.signer\.resources: the request of cpu, 2, is greater than the limit, 1900m; write a lower requests\.cpu or a higher limits\.cpu/,
  ],
  'a limit below the request of the description': [
    { ...ONE, defaults: { resources: { limits: { memory: '1Mi' } } } },
    /components\.[a-z-]+\.resources: the request of memory, \d+Mi, is greater than the limit, 1Mi; write/,
  ],
  // A Deployment with it "cannot be handled": the API server names a struct of Go.
  'a number in the environment': [
    { ...ONE, defaults: { extraEnv: [{ name: 'PORT', value: 443 }] } },
    /defaults\/extraEnv\/0\/value/,
  ],
  'true in a toleration, without quotes': [
    { ...ONE, defaults: { tolerations: [{ key: 'spot', operator: 'Equal', value: true }] } },
    /defaults\/tolerations\/0\/value/,
  ],
  'seconds of a toleration in quotes': [
    { ...ONE, components: { signer: { tolerations: [{ tolerationSeconds: '300' }] } } },
    /components\/signer\/tolerations\/0\/tolerationSeconds/,
  ],
  'a label of ours': [
    { ...ONE, components: { signer: { labels: { 'app.kubernetes.io/name': 'x' } } } },
    /components\/signer\/labels/,
  ],
  'half a digest': [{ ...ONE, image: { digest: 'sha256:12' } }, /image\/digest.*'sha256:12'/],
  'an image with a quote': [{ ...ONE, image: { repository: 'a"b' } }, /image\/repository/],
  'replicas that are no number': [
    { ...ONE, defaults: { replicas: 'two' } },
    /defaults\/replicas.*want integer/,
  ],
};
