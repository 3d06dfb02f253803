// SPDX-License-Identifier: Apache-2.0
/** Pods as charts write them, each by what is special about it. */

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
    readonly subPath?: string;
    readonly subPathExpr?: string;
  }[];
  readonly [field: string]: unknown;
}

/** core/v1 PodSpec, so far as these tests read it. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly [field: string]: unknown;
}

const IMAGE = 'registry.example/app:1';
const APP: Container = { name: 'app', image: IMAGE };
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** The pods. */
export const STOCK_PODS: Readonly<Record<string, PodSpec>> = {
  'one container, nothing else': { containers: [APP] },
  'the token of its ServiceAccount': { automountServiceAccountToken: true, containers: [APP] },
  'three containers': {
    containers: [APP, { name: 'proxy', image: IMAGE }, { name: 'metrics', image: IMAGE }],
  },
  'an init container': {
    initContainers: [{ name: 'migrate', image: IMAGE, command: ['migrate'] }],
    containers: [APP],
  },
  'a sidecar that starts first': {
    initContainers: [{ name: 'mesh', image: IMAGE, restartPolicy: 'Always' }],
    containers: [APP],
  },
  'init containers and a sidecar among them': {
    initContainers: [
      { name: 'first', image: IMAGE },
      { name: 'log', image: IMAGE, restartPolicy: 'Always', env: [{ name: 'A', value: '1' }] },
      { name: 'last', image: IMAGE },
    ],
    containers: [APP, { name: 'second', image: IMAGE }],
  },
  'the network of its node': {
    hostNetwork: true,
    containers: [{ ...APP, ports: [{ containerPort: 9100, hostPort: 9100 }] }],
  },
  'the processes of its node': { hostPID: true, hostIPC: true, containers: [APP] },
  'volumes of its own': {
    volumes: [
      { name: 'config', configMap: { name: 'app' } },
      { name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
      { name: 'secret', secret: { secretName: 'app', optional: true } },
    ],
    containers: [
      {
        ...APP,
        volumeMounts: [
          { name: 'config', mountPath: '/etc/app', readOnly: true },
          { name: 'data', mountPath: '/data' },
          { name: 'secret', mountPath: '/secret', readOnly: true },
        ],
      },
    ],
  },
  'a file of a ConfigMap by subPath, which is no file of ours': {
    volumes: [{ name: 'config', configMap: { name: 'app' } }],
    containers: [
      {
        ...APP,
        volumeMounts: [{ name: 'config', mountPath: '/etc/app.conf', subPath: 'app.conf' }],
      },
    ],
  },
  'volumes that are claimed': {
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } },
      {
        name: 'scratch',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
    ],
    containers: [{ ...APP, volumeMounts: [{ name: 'data', mountPath: '/var/lib/app' }] }],
  },
  'a directory of its node': {
    volumes: [{ name: 'host', hostPath: { path: '/var/log', type: 'Directory' } }],
    containers: [{ ...APP, volumeMounts: [{ name: 'host', mountPath: '/host', readOnly: true }] }],
  },
  'a mount above ours': {
    volumes: [{ name: 'run', emptyDir: {} }],
    containers: [{ ...APP, volumeMounts: [{ name: 'run', mountPath: '/var/run' }] }],
  },
  'a path that begins like ours': {
    volumes: [{ name: 'run', emptyDir: {} }],
    containers: [
      {
        ...APP,
        volumeMounts: [
          { name: 'run', mountPath: '/var/run/secrets/countersign.dev/workload-more' },
        ],
      },
    ],
  },
  'certificates of another volume': {
    volumes: [
      {
        name: 'identity',
        projected: {
          sources: [
            {
              podCertificate: {
                signerName: 'example.com/other',
                keyType: 'ED25519',
                credentialBundlePath: 'credentials.pem',
              },
            },
          ],
        },
      },
    ],
    containers: [{ ...APP, volumeMounts: [{ name: 'identity', mountPath: '/run/identity' }] }],
  },
  'variables of every source': {
    containers: [
      {
        ...APP,
        env: [
          { name: 'PLAIN', value: 'x' },
          { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'app', key: 'password' } } },
          { name: 'TLS', value: '$(COUNTERSIGN_WORKLOAD_CREDENTIALS)' },
        ] as NonNullable<Container['env']>,
        envFrom: [{ configMapRef: { name: 'app' } }],
      },
    ],
  },
  'what the restricted level of Pod Security asks for': {
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      fsGroup: 2000,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [{ ...APP, securityContext: RESTRICTED }],
  },
  'probes, hooks and resources': {
    terminationGracePeriodSeconds: 5,
    containers: [
      {
        ...APP,
        livenessProbe: { httpGet: { path: '/healthz', port: 8080 } },
        lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } },
      },
    ],
  },
  'where it may run': {
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ operator: 'Exists' }],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { app: 'x' } },
            },
          },
        ],
      },
    },
    containers: [APP],
  },
  'a Job': {
    restartPolicy: 'OnFailure',
    activeDeadlineSeconds: 60,
    containers: [{ ...APP, command: ['sh', '-c'], args: ['backup --key $(COUNTERSIGN)'] }],
  },
  'names of the cluster’s own DNS': {
    hostname: 'app-0',
    subdomain: 'app',
    setHostnameAsFQDN: true,
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['10.0.0.10'] },
    hostAliases: [{ ip: '127.0.0.1', hostnames: ['app.local'] }],
    containers: [APP],
  },
};
