// SPDX-License-Identifier: Apache-2.0
/** Checks of a spec before anything changes. Each returns the refusal, or undefined. */
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { quote, quoteList } from '#base/quote.ts';
import { COUNTERSIGN_ENVIRONMENT, refuseEnvironment } from './environment.ts';
import { refuseMetadata } from './metadata-rules.ts';
import { FLAG_SCHEMAS, checkArguments, refuseChecked, type FlagSchema } from './check-flags.ts';
import * as messages from './messages.ts';

/**
 * Settings of the administrator who installs the operator, which the writer of a Countersign cannot
 * change.
 */
export interface OperatorSettings {
  /** Namespace of the components. */
  readonly namespace: string;
  /** Namespace of the CA Secrets. */
  readonly keysNamespace: string;
  /** Repository of the image, without a tag. */
  readonly image: string;
  /**
   * Further repositories that `spec.image.reference` may name. The chosen image can read CA keys.
   */
  readonly allowedImages: readonly string[];
  /** Allow `spec.dangerZone`. */
  readonly dangerZone: boolean;
  /** Flag schemas by minor version. Default: those of this build. */
  readonly flagSchemas?: Readonly<Record<string, FlagSchema>>;
}

/** Returns the minor versions that can be installed, the oldest first. */
export function supportedMinors({
  flagSchemas = FLAG_SCHEMAS,
}: OperatorSettings): readonly string[] {
  const numbers = (minor: string): number[] => minor.split('.').map(Number);
  return Object.keys(flagSchemas).sort((a, b) => {
    const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [numbers(a), numbers(b)];
    return majorA - majorB || minorA - minorB;
  });
}

/** Returns `0.1` for `0.1.7`, or undefined for an invalid version. */
export function minorOf(version: string): string | undefined {
  return /^(\d{1,9}\.\d{1,9})\.\d{1,9}$/.exec(version)?.[1];
}

/** Returns the first refusal. */
export function refusalOf(spec: CountersignSpec, settings: OperatorSettings): Refusal | undefined {
  return (
    refuseVersion(spec, settings) ??
    refuseImage(spec, settings) ??
    refuseDangerZone(spec, settings) ??
    refuseEnvironment(overridesOf(spec), COUNTERSIGN_ENVIRONMENT, settings.dangerZone) ??
    refuseMetadata(overridesOf(spec), settings.dangerZone) ??
    refuseArguments(spec, settings)
  );
}

function refuseVersion(
  { version }: CountersignSpec,
  settings: OperatorSettings,
): Refusal | undefined {
  const supported = supportedMinors(settings);
  if (supported.includes(minorOf(version) ?? '')) return undefined;
  const patches = supported.map((each) => `${each}.x`).join(' and ');
  const message = messages.unsupportedVersion(patches, version);
  return { reason: 'UnsupportedVersion', message };
}

function refuseImage({ image }: CountersignSpec, settings: OperatorSettings): Refusal | undefined {
  if (image?.reference === undefined) return undefined;
  const allowed = [settings.image, ...settings.allowedImages];
  if (allowed.includes(repositoryOf(image.reference))) return undefined;
  const message = messages.imageNotAllowed(image.reference);
  return { reason: 'ImageNotAllowed', message };
}

/** Returns a reference without its tag and its digest. */
function repositoryOf(reference: string): string {
  const [name = ''] = reference.split('@');
  const slash = name.lastIndexOf('/');
  const colon = name.indexOf(':', slash + 1);
  return colon < 0 ? name : name.slice(0, colon);
}

function refuseDangerZone(
  { dangerZone }: CountersignSpec,
  settings: OperatorSettings,
): Refusal | undefined {
  if (dangerZone === undefined || settings.dangerZone) return undefined;
  const message = messages.DANGER_ZONE_NOT_ALLOWED;
  return { reason: 'DangerZoneNotAllowed', message };
}

function refuseArguments(spec: CountersignSpec, settings: OperatorSettings): Refusal | undefined {
  const flagSchema = flagSchemaOf(spec, settings);
  if (spec.defaults?.extraArgs !== undefined) {
    const message = messages.DEFAULT_ARGUMENTS_NOT_ALLOWED;
    return { reason: 'InvalidArgument', message };
  }
  for (const [component, { extraArgs = [] }] of Object.entries(spec.components ?? {})) {
    const at = `spec.components.${quote(component, 64)}.extraArgs`;
    const refusal = refuseChecked(at, checkArguments(flagSchema[component], extraArgs), (flags) =>
      messages.unknownFlags(spec.version, flags, component),
    );
    if (refusal !== undefined) return refusal;
  }
  return refuseDangerousArguments(spec.dangerZone?.extraArgs ?? {}, flagSchema);
}

/**
 * Rejects arguments that are invalid even in the danger zone: separate words, and flags that the
 * installation sets.
 */
function refuseDangerousArguments(
  given: Readonly<Record<string, readonly string[]>>,
  flagSchema: FlagSchema,
): Refusal | undefined {
  for (const [component, extraArgs] of Object.entries(given)) {
    const at = `spec.dangerZone.extraArgs.${quote(component, 64)}`;
    if (flagSchema[component] === undefined)
      return { reason: 'InvalidArgument', message: messages.noSuchComponent(at) };
    const { faults } = checkArguments(flagSchema[component], extraArgs);
    if (faults.length > 0)
      return { reason: 'InvalidArgument', message: `${at}: ${quoteList(faults)}` };
  }
  return undefined;
}

/** Returns the flag schema of the spec's version, which is supported. */
export function flagSchemaOf(
  { version }: CountersignSpec,
  { flagSchemas = FLAG_SCHEMAS }: OperatorSettings,
): FlagSchema {
  return flagSchemas[minorOf(version) ?? ''] ?? {};
}

function overridesOf({
  defaults = {},
  components = {},
}: CountersignSpec): readonly (readonly [string, NonNullable<CountersignSpec['defaults']>])[] {
  const own = Object.entries(components).map(
    ([name, each]) => [`spec.components.${quote(name, 64)}`, each] as const,
  );
  return [['spec.defaults', defaults], ...own];
}
