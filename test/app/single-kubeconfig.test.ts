// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeconfigFromEnvironment } from '../../src/app/component-options.ts';

test('KUBECONFIG names one file, or leaves the choice to the official client', () => {
  assert.equal(kubeconfigFromEnvironment({ KUBECONFIG: '/a/config' }), '/a/config');
  assert.equal(kubeconfigFromEnvironment({ KUBECONFIG: ':/a/config:' }), '/a/config');
  for (const KUBECONFIG of [undefined, '', ':', '/a:/b']) {
    assert.equal(kubeconfigFromEnvironment({ KUBECONFIG }), undefined);
  }
});
