// SPDX-License-Identifier: Apache-2.0
/** The shape of a spec from a file, which no API server has checked against the schema. */
import * as z from 'zod';
import { printable, quote } from '#base/quote.ts';

/** Fields that are checked before the values of the chart. */
const overrides = z.looseObject({
  extraArgs: z.array(z.string()).exactOptional(),
  extraEnv: z.array(z.looseObject({ name: z.string() })).exactOptional(),
});

/** The spec of a Countersign or a CertManagerDeployment. */
const SPEC = z.looseObject({
  version: z.string(),
  image: z.looseObject({ reference: z.string().exactOptional() }).exactOptional(),
  defaults: overrides.exactOptional(),
  components: z.record(z.string(), overrides).exactOptional(),
  dangerZone: z
    .looseObject({ extraArgs: z.record(z.string(), z.array(z.string())).exactOptional() })
    .exactOptional(),
});

/** Returns the first value of another shape, with its path, or undefined without one. */
export function shapeFault(spec: unknown): string | undefined {
  const [fault] = SPEC.safeParse(spec).error?.issues ?? [];
  if (fault === undefined) return undefined;
  const path = ['spec', ...fault.path].map(String).join('.');
  return `${quote(path, 128)}: ${printable(fault.message)}`;
}
