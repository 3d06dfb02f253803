// SPDX-License-Identifier: Apache-2.0
/** What the writer of a Countersign may set for components, and what takes an administrator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLAG_SCHEMAS, checkArguments } from '#install/operator/check-flags.ts';
import { SETTINGS, SPEC, made, refused } from './specs.ts';

test('refuses arguments that the version lacks or that the installation sets', () => {
  const of = (...extraArgs: string[]): object => ({ components: { signer: { extraArgs } } });
  assert.equal(refused(of('--log-level=debug', '--lease-duration=30s')), 'accepted');
  assert.match(refused(of('--future=1')), /^UnknownArgument: .*0\.1\.0 does not know "--future"/);
  for (const argument of ['revoke', '--log-level', '-h', '--kubeconfig=/x', '--listen=:1'])
    assert.match(refused(of(argument)), /^InvalidArgument: /, argument);
  assert.match(refused({ defaults: { extraArgs: ['--log-level=info'] } }), /^InvalidArgument: /);
});

test('no spec chooses which file a component sends as its ledger token, or to whom', () => {
  const token = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  for (const component of ['approver', 'signer', 'pcr-issuer', 'certificate-request', 'acme'])
    for (const argument of [
      '--ledger=https://x',
      `--ledger-token=${token}`,
      '--ledger-ca=/x',
      '--ledger-name=x',
    ]) {
      const extraArgs = [argument];
      assert.match(refused({ components: { [component]: { extraArgs } } }), /^InvalidArgument: /);
      assert.match(
        refused(
          { dangerZone: { extraArgs: { [component]: extraArgs } } },
          { ...SETTINGS, dangerZone: true },
        ),
        /^InvalidArgument: /,
      );
    }
});

/** Flags that decide where the records are and who may write them: never somebody else's. */
const OF_THE_INSTALLATION = {
  ledger: [
    '--appender=evil=example.com/workload',
    '--origin=x',
    '--data=/tmp',
    '--database-url=/var/run/secrets/kubernetes.io/serviceaccount/token',
    '--listen-ledger=:1',
    '--checkpoint-webhook=https://x/',
    '--checkpoint-webhook-secret=/x',
    '--checkpoint-object=/x',
    '--checkpoint-ca=/x',
    '--aggregated-api',
  ],
  authority: ['--acme-account-keys', '--aggregated-api'],
  acme: ['--renew-certificates'],
  'acme-responder': ['--listen-challenges=:1'],
  notifier: ['--target-secrets=/x', '--target-ca=/x', '--read-pods'],
  'pcr-issuer': ['--ledger-facts'],
  'pod-refresher': ['--ledger-facts', '--ledger=https://evil', '--ledger-token=/x'],
  'bundle-endpoint': [
    '--listen-web=:1',
    '--listen-spiffe=:1',
    '--web-certificate=/tmp',
    '--svid=/tmp',
  ],
};

/** Flags that decide whom a component calls, whom it trusts, or which Secrets it reads. */
const DANGEROUS = {
  acme: [
    '--namespaced-server=https://x/',
    '--namespaced-solver=rfc2136=x:53',
    '--resolver=x:53',
    '--namespaced-network=10.0.0.0/8',
    '--self-check-network=10.0.0.0/8',
    '--self-check-ports=1,2',
    '--ledger-mode=off',
  ],
  'acme-solver': [
    '--credential-namespace=kube-system',
    '--http01-zone=a=example.com',
    '--namespaced-solver=acmeDNS=https://x',
    '--resolver=https://x',
  ],
  'acme-responder': ['--http01-zone=a=example.com'],
  'pod-refresher': ['--secret=kube-system/x'],
  ledger: ['--monitored-secret=kube-system/x', '--unrecorded-grace-period=1h'],
  signer: ['--ledger-mode=off'],
  federation: [
    '--federate=a.example,https_web,https://a/',
    '--own-trust-domain=a.example',
    '--keep=1h',
    '--federation-files=/tmp',
    '--federation-network=10.0.0.0/8',
  ],
  notifier: [
    '--target=a=https://x/',
    '--target-events=a=certificate.denied',
    '--source=x',
    '--target-network=10.0.0.0/8',
    '--handshake=a=example.com',
  ],
  'bundle-endpoint': ['--trust-domain=a.example=example.com/x', '--profile=https_web'],
};

test('no flag chooses where records go, who appends them, or what permissions are for', () => {
  const allowed = { ...SETTINGS, dangerZone: true };
  for (const [component, flags] of Object.entries(OF_THE_INSTALLATION))
    for (const flag of flags) {
      const extraArgs = [flag];
      assert.match(refused({ components: { [component]: { extraArgs } } }), /set by the install/);
      const dangerZone = { extraArgs: { [component]: extraArgs } };
      assert.match(refused({ dangerZone }, allowed), /^InvalidArgument: .*set by the install/);
    }
});

test('whom a component calls and which Secrets it reads is for the danger zone alone', () => {
  const allowed = { ...SETTINGS, dangerZone: true };
  for (const [component, flags] of Object.entries(DANGEROUS))
    for (const flag of flags) {
      const [extraArgs, name = ''] = [[flag], flag.split('=')[0]];
      const message = refused({ components: { [component]: { extraArgs } } }, allowed);
      assert.match(
        message,
        /^InvalidArgument: .* may be in spec\.dangerZone\.extraArgs only/,
        flag,
      );
      assert.ok(message.includes(`"${name}"`), message);
      const dangerZone = { extraArgs: { [component]: extraArgs } };
      assert.match(refused({ dangerZone }), /^DangerZoneNotAllowed: /);
      assert.equal(refused({ dangerZone }, allowed), 'accepted', flag);
      // It is known: it keeps nobody from an upgrade.
      assert.deepEqual(made({ ...SPEC, dangerZone }, allowed).unknownArguments, []);
    }
});

test('every component flag is for the spec, the danger zone or the installation', () => {
  // A new flag is put into one of the three: what may be set changes neither whom a component calls
  // nor where data goes.
  const free = new Set([
    '--checkpoint-interval',
    '--lease-duration',
    '--log-format',
    '--log-level',
    '--reserved-prefix',
    '--propagation',
    '--refresh-hint',
    '--shortest-refresh',
    '--target-deadline',
    '--expiring',
    '--target-rate',
    '--delivery-timeout',
    '--ledger-waiting',
    '--debounce',
    '--window',
    '--concurrent',
    '--namespace-concurrent',
    '--restarts-per-minute',
    '--namespace-restarts-per-minute',
    '--rollout-timeout',
    '--max-challenges',
    '--show-initializing',
    '--max-age',
  ]);
  for (const [component, flags] of Object.entries(FLAG_SCHEMAS['0.1'] ?? {}))
    for (const [flag, takes] of Object.entries(flags)) {
      const argument = takes === 'value' ? `${flag}=x` : flag;
      const { unknown, faults, dangerous } = checkArguments(flags, [argument]);
      assert.deepEqual(unknown, []);
      const kept = faults.length + dangerous.length > 0;
      assert.notEqual(
        free.has(flag),
        kept,
        `${component} ${flag}: name it in KEPT of src/install/operator/check-flags.ts, or here`,
      );
    }
});

test('refuses labels and annotations that others act upon, anywhere in a spec', () => {
  for (const key of [
    'deployment.kubernetes.io/revision',
    'kubectl.kubernetes.io/last-applied-configuration',
    'app.kubernetes.io/managed-by',
    'app.kubernetes.io/instance',
    'kubernetes.io/psp',
    'pod-security.k8s.io/x',
    'k8s.io/y',
    'countersign.dev/refresh',
    'operator.countersign.dev/managed-by',
    'operator.countersign.dev/applied',
    'meta.helm.sh/release-name',
    'helm.sh/resource-policy',
    'acme.cert-manager.io/http01-solver',
    'Deployment.Kubernetes.io/revision',
  ])
    for (const field of ['labels', 'annotations']) {
      const marks = { [field]: { [key]: 'x' } };
      const allowed = { ...SETTINGS, dangerZone: true };
      const message = refused({ components: { signer: marks } }, allowed);
      assert.match(
        message,
        /^ReservedKey: spec\.components\."signer"\.(?:labels|annotations): /,
        key,
      );
      assert.match(message, /write one of a domain of your own/);
      assert.match(refused({ defaults: marks }), /^ReservedKey: spec\.defaults\./, key);
    }
  const harmless = {
    labels: { team: 'a', 'example.com/b': 'c', 'app.kubernetes.io/part-of': 'pki' },
    annotations: {
      'prometheus.io/scrape': 'true',
      'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
      // Another domain, however it ends.
      'notkubernetes.io/x': 'y',
    },
  };
  assert.equal(refused({ components: { signer: harmless }, defaults: harmless }), 'accepted');
});

test('only an administrator may allow injected containers; forbidding is free', () => {
  const marked = (annotations: object): object => ({ components: { signer: { annotations } } });
  for (const key of [
    'sidecar.istio.io/proxyImage',
    'linkerd.io/inject',
    'instrumentation.opentelemetry.io/inject-nodejs',
    'vault.hashicorp.com/agent-inject',
    'admission.datadoghq.com/js-lib.version',
  ]) {
    const given = marked({ [key]: 'enabled' });
    assert.match(refused(given), /^ReservedKey: .*--allow-danger-zone/, key);
    assert.equal(refused(given, { ...SETTINGS, dangerZone: true }), 'accepted', key);
  }
  const away = { 'sidecar.istio.io/inject': 'false', 'linkerd.io/inject': 'disabled' };
  assert.equal(refused(marked(away)), 'accepted');
});

test('the priorities of Kubernetes itself take an administrator', () => {
  for (const priorityClassName of ['system-cluster-critical', 'system-node-critical', 'system-x']) {
    for (const given of [
      { defaults: { priorityClassName } },
      { components: { signer: { priorityClassName } } },
    ]) {
      assert.match(refused(given), /^PriorityNotAllowed: spec\..*name a PriorityClass of yours/);
      assert.equal(refused(given, { ...SETTINGS, dangerZone: true }), 'accepted');
    }
  }
  assert.equal(refused({ defaults: { priorityClassName: 'high' } }), 'accepted');
});

test('the danger zone, if allowed, permits arguments that the version does not know', () => {
  const dangerZone = { extraArgs: { signer: ['--future=1'] } };
  assert.match(refused({ dangerZone }), /^DangerZoneNotAllowed: /);
  const allowed = { ...SETTINGS, dangerZone: true };
  const { unknownArguments, objects } = made({ ...SPEC, dangerZone }, allowed);
  assert.deepEqual(unknownArguments, ['signer --future']);
  assert.match(JSON.stringify(objects), /"--future=1"/);
  for (const extraArgs of [{ signer: ['revoke'] }, { signer: ['--listen=:1'] }, { nobody: [] }])
    assert.match(refused({ dangerZone: { extraArgs } }, allowed), /^InvalidArgument: /);
});

/**
 * What libraries and the C library read that nobody would have thought of: no list of these is
 * whole.
 */
const STRANGE = [
  'HOSTALIASES',
  'LOCALDOMAIN',
  'RES_OPTIONS',
  'HOME',
  'GLIBC_TUNABLES',
  'MALLOC_PERTURB_',
  'HTTP_PROXY',
  'ALL_PROXY',
  'PGHOST',
  'PGSSLROOTCERT',
  'PGPASSFILE',
  'UV_USE_IO_URING',
  'OTEL_EXPORTER_ZIPKIN_ENDPOINT',
  'OTEL_LOGS_EXPORTER',
  'otel_service_name',
  'TZDIR',
  'X',
];

test('refuses every environment variable that the allowlist does not name', () => {
  const settings = { ...SETTINGS, dangerZone: true };
  for (const name of STRANGE) {
    const extraEnv = [{ name, value: 'x' }];
    const said = refused({ components: { signer: { extraEnv } } }, settings);
    assert.match(said, /^ForbiddenEnvironment: .* is not allowed: .*these are allowed: TZ, /, name);
    assert.match(refused({ defaults: { extraEnv } }, settings), /^ForbiddenEnvironment: /, name);
  }
});

test('a variable that chooses whom a component calls or trusts takes the danger zone', () => {
  const ofTraces = ['ENDPOINT', 'HEADERS', 'CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'];
  const names = ofTraces.flatMap((each) => [
    `OTEL_EXPORTER_OTLP_${each}`,
    `OTEL_EXPORTER_OTLP_TRACES_${each}`,
  ]);
  for (const name of [
    'OTEL_TRACES_EXPORTER',
    'HTTPS_PROXY',
    'https_proxy',
    'NO_PROXY',
    'no_proxy',
    ...names,
  ]) {
    const extraEnv = [{ name, value: 'x' }];
    for (const given of [{ components: { signer: { extraEnv } } }, { defaults: { extraEnv } }]) {
      assert.match(refused(given), /^ForbiddenEnvironment: .*--allow-danger-zone/, name);
      assert.equal(refused(given, { ...SETTINGS, dangerZone: true }), 'accepted', name);
    }
  }
});

test('always refuses what could load code into a component, or change its trust', () => {
  const settings = { ...SETTINGS, dangerZone: true };
  for (const name of [
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'KUBERNETES_SERVICE_HOST',
    'KUBECONFIG',
    'SSL_CERT_FILE',
    'node_options',
  ]) {
    const extraEnv = [{ name, value: 'x' }];
    const named = refused({ components: { signer: { extraEnv } } }, settings);
    assert.match(named, /^ForbiddenEnvironment: spec\.components\."signer"/, name);
    assert.match(refused({ defaults: { extraEnv } }, settings), /^ForbiddenEnvironment: /, name);
  }
  const secret = { name: 'X', valueFrom: { secretKeyRef: { name: 'countersign-signer-serving' } } };
  assert.match(refused({ defaults: { extraEnv: [secret] } }), /^ForbiddenEnvironment: /);
  const harmless = { ...secret, name: 'TZ' };
  assert.match(refused({ defaults: { extraEnv: [harmless] } }), /may have a value only/);
  for (const name of ['TZ', 'OTEL_SERVICE_NAME', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_SDK_DISABLED'])
    assert.equal(refused({ defaults: { extraEnv: [{ name, value: 'x' }] } }), 'accepted', name);
});

test('a component that the version does not have knows no argument', () => {
  assert.deepEqual(checkArguments(undefined, ['--log-level=info']).unknown, ['--log-level']);
});

// core/v1 ResourceRequirements: the API server would refuse the Deployment alone, after the others.
test('refuses a request above its limit and a text that is not a quantity', () => {
  const of = (resources: object): object => ({ components: { signer: { resources } } });
  assert.equal(refused(of({ requests: { cpu: '500m' }, limits: { cpu: 1 } })), 'accepted');
  assert.match(
    refused(of({ requests: { cpu: 2 }, limits: { cpu: '1900m' } })),
    /^InvalidSpec: spec\.components\.signer\.resources: the request of cpu, 2, is greater than the limit, 1900m; write a lower/,
  );
  assert.match(
    refused({ defaults: { resources: { limits: { memory: '256 Mi' } } } }),
    /^InvalidSpec: spec\.defaults\.resources\.limits\.memory: "256 Mi" is not a quantity; write/,
  );
});

test('a component that is off refuses no defaults', () => {
  // The volume of the ledger is for one pod, and acme requests 128Mi by itself.
  for (const defaults of [{ replicas: 3 }, { resources: { limits: { memory: '100Mi' } } }]) {
    assert.equal(refused({ defaults }), 'accepted');
    const { removable } = made(SPEC);
    assert.deepEqual(made({ ...SPEC, defaults }).removable, removable);
    const name = 'replicas' in defaults ? 'ledger' : 'acme';
    assert.match(refused({ defaults, components: { [name]: { enabled: true } } }), /^InvalidSpec/);
  }
});

test('an empty affinity, or null, leaves the default out of the Deployment', () => {
  const affinityOf = (more: object): unknown => {
    const { objects } = made({ ...SPEC, ...more });
    const found = objects.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'countersign-signer',
    );
    const { template } = found?.['spec'] as { template: { spec: { affinity: object } } };
    return Object.keys(template.spec.affinity);
  };
  assert.deepEqual(affinityOf({}), ['podAntiAffinity']);
  assert.deepEqual(affinityOf({ defaults: { affinity: {} } }), []);
  assert.deepEqual(affinityOf({ components: { signer: { affinity: null } } }), []);
});
