// SPDX-License-Identifier: Apache-2.0
/** A signer that needs a component which the installation has switched off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { InstallationFacts } from '#diagnose/check/facts.ts';
import type { Installer } from '#diagnose/check/installer.ts';
import { state } from '../../operations/signer-states.ts';
import { findingsOf, installed, signersOf } from './well.ts';

const OPTIONAL = 'certificate-request';

const RULES = { rules: [{ name: 'all', when: 'true', allow: {} }] };

/** The advice for a signer without this component, which has a Deployment or not. */
function adviceFor(
  component: string,
  { installer = installed.installer, hasDeployment = false, isNeeded = true } = {},
): string {
  // The message is for people: no advice follows from its words.
  const message = 'x';
  const conditions = [{ type: 'Ready', status: 'False', reason: 'NotServed', message }];
  const signers = {
    value: signersOf(
      state({
        spec: isNeeded ? { certificateRequests: RULES } : {},
        conditions: conditions as readonly Condition[],
      }),
    ),
  };
  assert.ok('value' in installed.deployments);
  const deployments: InstallationFacts['deployments'] = {
    value: installed.deployments.value.filter(
      (each) => hasDeployment || each.component !== component,
    ),
  };
  const [found] = findingsOf('signers-ready', { installed: { signers, deployments, installer } });
  return found?.remediation ?? '';
}

const BY_INSTALLER: readonly (readonly [Installer, RegExp])[] = [
  [
    { kind: 'helm', release: 'pki', namespace: 'pki' },
    /^helm upgrade pki .* --set components\.certificate-request\.enabled=true$/,
  ],
  [
    { kind: 'operator' },
    /^set spec\.components\.certificate-request\.enabled: true in countersign\.yaml, /,
  ],
  [
    { kind: 'install' },
    /^set components\.certificate-request\.enabled: true .*countersign install/,
  ],
  [
    { kind: 'manifests' },
    /^set components\.certificate-request\.enabled: true .*kubectl apply -f -/,
  ],
];

for (const [installer, advice] of BY_INSTALLER)
  test(`the setting of a component that is switched off is named: ${installer.kind}`, () => {
    assert.match(adviceFor(OPTIONAL, { installer }), advice);
  });

test('a component that is there, is never off, or is not needed needs no setting', () => {
  const explain = /^countersign explain signer\//;
  assert.match(adviceFor(OPTIONAL, { hasDeployment: true }), explain);
  assert.match(adviceFor('signer'), explain);
  assert.match(adviceFor(OPTIONAL, { isNeeded: false }), explain);
});
