// SPDX-License-Identifier: Apache-2.0
/** Types of variables, each with the maximum size of its values. */

export type Shape = TextShape | IntShape | ListShape | MapShape | ObjectShape;

export interface TextShape {
  readonly kind: 'string';
  /** UTF-16 units. */
  readonly max: number;
}

export interface IntShape {
  readonly kind: 'int';
}

export interface ListShape {
  readonly kind: 'list';
  readonly max: number;
  readonly of: TextShape;
}

export interface MapShape {
  readonly kind: 'map';
  readonly max: number;
  readonly of: TextShape | ListShape;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, Shape>>;
}

/**
 * Limit on characters of a map's key. Annotation keys have at most 317, and keys of `extra` are URL
 * paths.
 */
export const MAX_KEY = 512;

export const INT: IntShape = { kind: 'int' };

export function text(max: number): TextShape {
  return { kind: 'string', max };
}

export function list(max: number, of: TextShape): ListShape {
  return { kind: 'list', max, of };
}

export function map(max: number, of: TextShape | ListShape): MapShape {
  return { kind: 'map', max, of };
}

export function object(fields: Readonly<Record<string, Shape>>): ObjectShape {
  return { kind: 'object', fields };
}

/** Returns the type in the notation of the CEL library. */
export function typeName(shape: Exclude<Shape, ObjectShape>): string {
  switch (shape.kind) {
    case 'string':
    case 'int':
      return shape.kind;
    case 'list':
      return `list<${typeName(shape.of)}>`;
    case 'map':
      return `map<string, ${typeName(shape.of)}>`;
  }
}
