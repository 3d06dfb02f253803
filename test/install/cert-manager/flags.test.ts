// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseSpec } from '#install/cert-manager-operator/preflight.ts';
import { CERT_MANAGER_FLAG_SCHEMAS } from '#install/cert-manager-operator/releases.ts';

/**
 * What changes neither whom cert-manager calls or trusts, nor which files it reads, nor who reads
 * what it does.
 */
const FREE: ReadonlySet<string> = new Set([
  ...['limits-cpu', 'limits-memory', 'request-cpu', 'request-memory'].map(
    (each) => `--acme-http01-solver-resource-${each}`,
  ),
  '--acme-http01-solver-runtime-class-name',
  '--max-concurrent-challenges',
  '--auto-certificate-annotations',
  '--copied-annotation-prefixes',
  '--extra-certificate-annotations',
  '--enable-certificate-owner-ref',
  '--certificate-request-maximum-backoff-duration',
  '--concurrent-workers',
  '--controllers',
  '--certificate-request-minimum-backoff-duration',
  '--dns01-check-retry-period',
  '--default-issuer-group',
  '--default-issuer-kind',
  '--default-issuer-name',
  '--dynamic-serving-leaf-duration',
  '--metrics-dynamic-serving-leaf-duration',
  '--metrics-dynamic-serving-dns-names',
  '--metrics-tls-cipher-suites',
  '--metrics-tls-min-version',
  '--tls-cipher-suites',
  '--tls-min-version',
  ...['apiservices', 'customresourcedefinitions', 'mutatingwebhookconfigurations'].map(
    (each) => `--enable-${each}-injectable`,
  ),
  '--enable-validatingwebhookconfigurations-injectable',
  '--enable-certificates-data-source',
  '--enable-gateway-api',
  '--enable-gateway-api-listenerset',
  '--gateway-api-extra-protocols',
  '--feature-gates',
  '--ignore-namespaces',
  '--kube-api-burst',
  '--kube-api-qps',
  ...['lease-duration', 'renew-deadline', 'retry-period'].map(
    (each) => `--leader-election-${each}`,
  ),
  '--log-flush-frequency',
  '--logging-format',
  '--v',
  '--max-private-key-size',
  ...['bundle-size', 'chain-length', 'size'].map((each) => `--max-certificate-${each}`),
]);

const SETTINGS = { moreReleases: {}, dangerZone: true };
const VERSIONS: Readonly<Record<string, string>> = { '1.20': '1.20.2', '1.21': '1.21.2' };

for (const [minor, flagSchema] of Object.entries(CERT_MANAGER_FLAG_SCHEMAS)) {
  test(`every flag of cert-manager ${minor} is for the spec, danger zone or installation`, () => {
    for (const [component, flags] of Object.entries(flagSchema))
      for (const [flag, takes] of Object.entries(flags)) {
        const extraArgs = [takes === 'value' ? `${flag}=1` : flag];
        const spec = { version: VERSIONS[minor] ?? '', components: { [component]: { extraArgs } } };
        const refused = refuseSpec(spec, SETTINGS)?.reason;
        const where = `${component} ${flag}: name it in KEPT of cert-manager/preflight.ts, or here`;
        assert.equal(refused, FREE.has(flag) ? undefined : 'InvalidArgument', where);
      }
  });
}
