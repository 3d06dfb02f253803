// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CR_CASES } from '#conformance/certificaterequest/cases.ts';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import { CTB_CASES } from '#conformance/ctb/cases.ts';
import { PCR_CASES } from '#conformance/pcr/cases.ts';

const KINDS = { CSR: CSR_CASES, PCR: PCR_CASES, CTB: CTB_CASES, CR: CR_CASES };

for (const [prefix, cases] of Object.entries(KINDS)) {
  test(`ids of ${prefix} count from 01 without a gap, in the order of the report`, () => {
    const wanted = cases.map((_each, index) => `${prefix}-${String(index + 1).padStart(2, '0')}`);
    assert.deepEqual(
      cases.map(({ id }) => id),
      wanted,
    );
  });

  test(`every case of ${prefix} has a sentence of its own and a source`, () => {
    assert.equal(new Set(cases.map(({ asserts }) => asserts)).size, cases.length);
    for (const { asserts, source } of cases) assert.ok(asserts !== '' && source !== '');
  });
}

test('each conformance test of Kubernetes 1.37 about these kinds is a case', () => {
  const sources = Object.values(KINDS).flatMap((cases) => cases.map(({ source }) => source));
  // Every ginkgo node of test/e2e/auth/{certificates,podcertificaterequest,projected_*}.go but the
  // two for "user fields", which are of an alpha feature gate and look into files of a running
  // container.
  const tests = [
    'should support building a client with a CSR',
    'should support CSR API operations',
    'should support PodCertificateRequest API operations',
    'should allow server and client pods to establish an mTLS connection',
    'should honor UserAnnotations for SPIFFE URI path',
    'should issue certificate with default life time (24h) when MaxExpirationSeconds is not set',
    'should issue certificate with specified duration (1h) when MaxExpirationSeconds is set',
    'should reject pod creation when MaxExpirationSeconds exceeds maximum (91d)',
    'should reject pod creation when MaxExpirationSeconds is less than minimum (1h)',
    'certificates.k8s.io/v1 ClusterTrustBundles',
    'should be able to mount a single ClusterTrustBundle by name',
    'can combine multiple CTBs with signer name and label selector',
    'should start if only signer name and nil label selector + optional=true',
    'should start if only signer name and explicit label selector matches nothing + optional=true',
    'can combine all signer CTBs with an empty label selector',
    'sets optional=false and no trust bundle matches query',
    'sets optional=false and the configured CTB does not exist',
    'should be able to specify multiple CTB volumes',
    'should be able to mount a big number (>100) of CTBs',
  ];
  for (const name of tests)
    assert.ok(
      sources.some((source) => source.includes(`"${name}"`)),
      name,
    );
});
