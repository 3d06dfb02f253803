// SPDX-License-Identifier: Apache-2.0
/** The shape of a spec that comes from a file, where no API server has checked it against the schema. */
import { z } from 'zod';
import { printable, quote } from '../../quote.ts';

/** The values that are judged before those of the chart are. */
const overrides = z.looseObject({
  extraArgs: z.array(z.string()).exactOptional(),
  extraEnv: z.array(z.looseObject({ name: z.string() })).exactOptional(),
});

/** Of a Countersign and of a CertManagerDeployment. */
const SPEC = z.looseObject({
  version: z.string(),
  image: z.looseObject({ reference: z.string().exactOptional() }).exactOptional(),
  defaults: overrides.exactOptional(),
  components: z.record(z.string(), overrides).exactOptional(),
  dangerZone: z
    .looseObject({ extraArgs: z.record(z.string(), z.array(z.string())).exactOptional() })
    .exactOptional(),
});

/** The first value of another shape, with its path; undefined where there is none. */
export function shapeFault(spec: unknown): string | undefined {
  const [fault] = SPEC.safeParse(spec).error?.issues ?? [];
  if (fault === undefined) return undefined;
  const path = ['spec', ...fault.path].map(String).join('.');
  return `${quote(path, 128)}: ${printable(fault.message)}`;
}
