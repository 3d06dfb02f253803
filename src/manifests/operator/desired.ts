// SPDX-License-Identifier: Apache-2.0
import { ZodError } from 'zod';
import type { ComponentOverrides, CountersignSpec } from '../../api/operator/countersign.ts';
import type { DesiredInstallation, Refusal } from '../../installing/desired.ts';
import { SignerError } from '../../errors.ts';
import { printable } from '../../quote.ts';
import { ruleOf } from '../../reconciling/objects/kinds.ts';
import { titleOf, type ManagedObject } from '../../reconciling/objects/managed-object.ts';
import { COMPONENTS } from '../components.ts';
import { installationFiles } from '../files.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { planOf } from '../values/plan.ts';
import { refuseAcme } from './acme.ts';
import { refuseBundleEndpoint } from './bundle-endpoint.ts';
import definitions from './definitions.json' with { type: 'json' };
import { refuseLedger } from './ledger.ts';
import { checkArguments } from './mould.ts';
import {
  minorOf,
  mouldOf,
  refusalOf,
  supportedMinors,
  type OperatorSettings,
} from './preflight.ts';
import { operatorRules } from './rules.ts';

const DEFINITIONS = definitions as unknown as readonly ManagedObject[];

/**
 * The objects of an installation, and the permissions that installing it takes, or why it is refused. Pure.
 *
 * @param spec - as the API server's schema accepts it
 */
export function desiredInstallation(
  spec: CountersignSpec,
  settings: OperatorSettings,
): DesiredInstallation | Refusal {
  const refusal = refusalOf(spec, settings);
  if (refusal !== undefined) return refusal;
  try {
    const plan = planFor(spec, settings);
    // The shape of the values is checked by now.
    const unbounded =
      refuseAcme(spec, settings.dangerZone) ??
      refuseLedger(spec, settings.dangerZone) ??
      refuseBundleEndpoint(spec, settings.dangerZone);
    if (unbounded !== undefined) return unbounded;
    const [oldest] = supportedMinors(settings);
    const all = objectsOf(planFor(fullest(spec), settings));
    const objects = objectsOf(plan);
    return {
      objects,
      removable: new Set(all.map(titleOf)),
      // The last object of a namespace goes as the others do.
      watched: [...objects, ...all.filter((each) => ruleOf(each).owned)],
      rules: operatorRules(plan, all),
      oldest: supportedMinors(settings).length > 1 && minorOf(spec.version) === oldest,
      unknownArguments: unknownArguments(spec, settings),
    };
  } catch (error) {
    if (error instanceof ZodError) return invalid(textOf(error));
    if (error instanceof SignerError) return invalid(`spec.${error.message}`);
    throw error;
  }
}

/** Every object of a plan, with the definitions that it rests on. */
function objectsOf(plan: InstallationPlan): readonly ManagedObject[] {
  const files = [...installationFiles(plan).values()].flat();
  return [...DEFINITIONS, ...(files as unknown as readonly ManagedObject[])];
}

/** The plan that the chart makes of the same values. */
function planFor(spec: CountersignSpec, settings: OperatorSettings): InstallationPlan {
  const { image, signers = [], servingSigner, whoMayRequest } = spec;
  const { namespacedSigners, podServices, acme, ledger, bundleEndpoint } = spec;
  const { reference, pullPolicy, pullSecrets } = image ?? {};
  const values = {
    ...{ signers, namespacedSigners, podServices, acme, ledger, servingSigner, whoMayRequest },
    bundleEndpoint,
    namespace: settings.namespace,
    keysNamespace: settings.keysNamespace,
    image: { pullPolicy, pullSecrets },
    defaults: spec.defaults,
    components: componentsOf(spec),
  };
  const plan = planOf(values, { namespace: '', version: spec.version });
  return {
    ...plan,
    image: { ...plan.image, reference: reference ?? `${settings.image}:${spec.version}` },
  };
}

/** The overrides, with the arguments of the danger zone behind the others. */
function componentsOf({
  components = {},
  dangerZone,
}: CountersignSpec): Readonly<Record<string, ComponentOverrides>> {
  const dangerous = Object.entries(dangerZone?.extraArgs ?? {}).map(([name, extraArgs]) => {
    const given = components[name] ?? {};
    return [name, { ...given, extraArgs: [...(given.extraArgs ?? []), ...extraArgs] }] as const;
  });
  return Object.fromEntries([...Object.entries(components), ...dangerous]);
}

/** The same with everything that can be left out: its objects are those that may have to be removed. */
function fullest(spec: CountersignSpec): CountersignSpec {
  const optional = [...COMPONENTS].filter(([, { optional: each }]) => each !== undefined);
  const given = Object.entries(spec.components ?? {});
  const enabled = optional.map(
    ([name]) => [name, { ...spec.components?.[name], enabled: true }] as const,
  );
  return {
    ...spec,
    ...{ whoMayRequest: true, servingSigner: { create: true } },
    components: Object.fromEntries([...given, ...enabled]),
  };
}

function unknownArguments(spec: CountersignSpec, settings: OperatorSettings): readonly string[] {
  const mould = mouldOf(spec, settings);
  return Object.entries(spec.dangerZone?.extraArgs ?? {}).flatMap(([component, extraArgs]) =>
    checkArguments(mould[component], extraArgs).unknown.map((flag) => `${component} ${flag}`),
  );
}

function invalid(message: string): Refusal {
  return { reason: 'InvalidSpec', message: printable(message) };
}

function textOf({ issues }: ZodError): string {
  return issues.map(({ path, message }) => `spec.${path.join('.')}: ${message}`).join('; ');
}
