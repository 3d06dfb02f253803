// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { DEMO, DEMO_PLAN } from '../../build/demo-installation.ts';
import { installationFiles } from '#install/files.ts';
import { renderRbac } from '#install/render.ts';
import type { Manifest } from '#install/roles.ts';
import { SPEC, made } from './operator/specs.ts';

/**
 * Role → group, resource and verbs, of Kubernetes' page "Develop a Custom Signer", "Useful
 * ClusterRoles".
 */
const WANTED = {
  'countersign-csr-requester': [
    'certificates.k8s.io certificatesigningrequests create,get,list,watch',
  ],
  'countersign-bundle-consumer': ['certificates.k8s.io clustertrustbundles get,list,watch'],
};

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly roleRef?: { readonly name: string };
}

const parsed = (text: string): readonly Role[] =>
  parseAllDocuments(text).map((each) => each.toJS() as Role);
const chart = readFileSync(
  join(import.meta.dirname, '../../deploy/chart/templates/rbac/users.yaml'),
  'utf8',
);

/** How Countersign is installed → all its objects, of the chart those of the file alone. */
const WAYS: Readonly<Record<string, readonly Role[]>> = {
  'countersign rbac': [...renderRbac(DEMO).values()].flatMap(parsed),
  kustomize: [...installationFiles(DEMO_PLAN).values()].flat().map(asRole),
  operator: made(SPEC).objects.map((each) => asRole(each as unknown as Manifest)),
  chart: parsed(chart.slice(chart.indexOf('---'))),
};

function asRole(manifest: Manifest): Role {
  return manifest as unknown as Role;
}

for (const [way, objects] of Object.entries(WAYS)) {
  test(`${way} ships unbound ClusterRoles for requesters and consumers`, () => {
    const named = Object.keys(WANTED);
    const roles = objects.filter(
      ({ kind, metadata }) => kind === 'ClusterRole' && named.includes(metadata.name),
    );
    const lines = roles.map(({ metadata, rules }): [string, string[]] => [
      metadata.name,
      rules.map((rule) => [rule.apiGroups, rule.resources, rule.verbs].join(' ')),
    ]);
    assert.deepEqual(Object.fromEntries(lines), WANTED);
    for (const { metadata } of roles)
      assert.match(metadata.annotations?.['kubernetes.io/description'] ?? '', /^Bind it to users/);
    assert.ok(!objects.some(({ roleRef }) => named.includes(roleRef?.name ?? '')));
  });
}
