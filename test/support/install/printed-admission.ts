// SPDX-License-Identifier: Apache-2.0
import { parseAllDocuments } from 'yaml';
import { DEMO } from '../../../build/demo-installation.ts';
import type { LiveAdmission } from '#install/admission/compare.ts';
import type { Installation } from '#install/installation.ts';
import { OPT_IN, renderAdmission } from '#install/render.ts';

interface Shipped {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/**
 * What `countersign rbac` prints: each policy with its binding, by name, without those that are
 * opt-in.
 */
export function printedAdmission(more: Partial<Installation> = {}): ReadonlyMap<
  string,
  {
    readonly policy: Shipped & NonNullable<LiveAdmission['policy']>;
    readonly binding: Shipped & NonNullable<LiveAdmission['binding']>;
  }
> {
  const { injection: _, ...installation } = DEMO;
  const files = [...renderAdmission({ ...installation, ...more })].filter(
    ([file]) => file !== OPT_IN,
  );
  const objects = files.flatMap(([, text]) =>
    parseAllDocuments(text).map((each) => each.toJS() as Shipped),
  );
  return new Map(
    objects
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      .map((policy) => {
        const binding = objects.find(
          ({ kind, metadata }) => kind !== policy.kind && metadata.name === policy.metadata.name,
        );
        if (binding === undefined) throw new Error(`${policy.metadata.name} has no binding`);
        return [policy.metadata.name, { policy, binding }];
      }),
  );
}
