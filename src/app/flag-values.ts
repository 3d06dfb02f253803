// SPDX-License-Identifier: Apache-2.0
/** Parsers of flag values. commander prefixes an error with the name of the flag. */
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '#api/object/duration.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { serialDigits, sha256Fingerprint } from '#base/hex-digits.ts';
import { parseCount, parseDays } from '#component/flag.ts';

/** Returns the seconds of a Go duration. @throws InvalidArgumentError */
export function durationFlag(text: string): number {
  return parsedFlag(text, parseDuration);
}

/** Parses a flag's value. @throws InvalidArgumentError if `parse` throws a SignerError */
export function parsedFlag<T>(text: string, parse: (text: string) => T): T {
  const parsed = attempt(() => parse(text));
  if (parsed instanceof SignerError) throw new InvalidArgumentError(parsed.message);
  return parsed;
}

/** @throws InvalidArgumentError */
export function secondsFlag(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write whole seconds, such as 3600');
}

/** Collects the values of a repeatable flag, in order. */
export function gather(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Parses a whole number from 1. @throws InvalidArgumentError */
export function positiveFlag(text: string): number {
  return parsedFlag(text, parseCount);
}

/** Parses a port. @throws InvalidArgumentError */
export function portFlag(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('write a port from 1 to 65535');
}

/**
 * Returns the seconds of a Go duration, or of whole days such as `7d`. @throws InvalidArgumentError
 */
export function daysFlag(text: string): number {
  return parsedFlag(text, parseDays);
}

/**
 * Returns `sha256:<64 digits>` of a certificate, from any tool's spelling. @throws
 * InvalidArgumentError
 */
export function fingerprintFlag(text: string): string {
  const print = sha256Fingerprint(text);
  if (print !== undefined) return print;
  throw new InvalidArgumentError(
    'write the whole SHA-256 fingerprint: 64 hexadecimal digits, as openssl x509 -fingerprint -sha256 prints them',
  );
}

/**
 * Returns the digits of a serial number, from any tool's spelling. @throws InvalidArgumentError
 */
export function serialFlag(text: string): string {
  const digits = serialDigits(text);
  if (/^[0-9a-f]{1,64}$/.test(digits)) return digits;
  throw new InvalidArgumentError(
    'write the hexadecimal digits, as openssl x509 -serial prints them',
  );
}
