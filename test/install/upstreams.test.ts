// SPDX-License-Identifier: Apache-2.0
/** An installation names the issuers that may sign its managed CAs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { admissionDifferences } from '#install/admission/compare.ts';
import { COMPONENTS, type ComponentName } from '#install/component-list.ts';
import { permissionNamesOf } from '#install/names.ts';
import { renderRbac } from '#install/render.ts';
import { planOf } from '#install/values/plan.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

const CORPORATE = 'pki/ClusterIssuer.cert-manager.io/corporate';
const OTHER = 'team/Issuer.cert-manager.io/other';
const POLICY = 'countersign-authority-certificate-requests';

const rules = (component: ComponentName, upstreamIssuers: readonly string[]): readonly object[] => {
  const description = COMPONENTS.get(component);
  assert.ok(description !== undefined);
  return description
    .permissions(permissionNamesOf(description, { ...DEMO, upstreamIssuers }))
    .filter(
      ({ apiGroups, verbs }) => apiGroups.includes('cert-manager.io') && verbs.includes('create'),
    );
};

test('authority creates CertificateRequests only in the namespaces of listed issuers', () => {
  assert.deepEqual(rules('authority', []), []);
  const at = (namespace: string): object => ({
    apiGroups: ['cert-manager.io'],
    resources: ['certificaterequests'],
    verbs: ['create', 'get'],
    namespace,
  });
  assert.deepEqual(rules('authority', [CORPORATE, OTHER, CORPORATE]), [at('pki'), at('team')]);
});

test('no other component may create a CertificateRequest', () => {
  const others = [...COMPONENTS.keys()].filter((each) => each !== 'authority');
  assert.deepEqual(
    others.flatMap((each) => rules(each, [CORPORATE])),
    [],
  );
});

test('the policy lists the issuers, and a cluster with other issuers has no difference', () => {
  const live = printedAdmission({ upstreamIssuers: [CORPORATE, OTHER] }).get(POLICY);
  assert.ok(live !== undefined);
  assert.ok(JSON.stringify(live).includes(`in ['${CORPORATE}', '${OTHER}']`));
  const context = { namespace: DEMO.namespace, secretNamespace: 'keys', signerNames: [] };
  assert.deepEqual(admissionDifferences(POLICY, live, context), []);
});

for (const wrong of [
  'pki/corporate',
  "pki/ClusterIssuer.cert-manager.io/a'] || true",
  '*/ClusterIssuer.cert-manager.io/a',
  'pki/ClusterIssuer.cert-manager.io/*',
  'pki/clusterissuers.cert-manager.io/a',
]) {
  test(`rejects the issuer ${wrong}`, () => {
    assert.throws(() => renderRbac({ ...DEMO, upstreamIssuers: [wrong] }), { code: 'USAGE' });
    const values = { signers: [{ name: 'example.com/a' }], upstreamIssuers: [wrong] };
    assert.throws(() => planOf(values, { namespace: 'x', version: '1.0.0' }), /upstreamIssuers/);
  });
}

for (const namespace of ['default', 'kube-system', 'countersign-keys', 'countersign-system']) {
  test(`rejects requests in namespace ${namespace}`, () => {
    const values = {
      signers: [{ name: 'example.com/a' }],
      upstreamIssuers: [`${namespace}/ClusterIssuer.cert-manager.io/a`],
    };
    const release = { namespace: 'countersign-system', version: '1.0.0' };
    assert.throws(() => planOf(values, release), /^SignerError: upstreamIssuers\[0\]: "/);
  });
}
