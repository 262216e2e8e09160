// Reads the types of TypeScript declarations as shapes: the possible JSON values of the type.
//
//   { kind: 'object', name, members: [{ name, isOptional, shape }], rest }   rest: the shape of any other member, or null
//   { kind: 'list', of }            { kind: 'union', alternatives }          { kind: 'word', value }   one value of an enum
//   { kind: 'string' | 'number' | 'boolean' | 'null' | 'any' }
//
// A recursive type is a recursive shape. Values that JSON cannot express (methods, accessors, undefined, byte streams) are
// left out; a type with nothing else is null.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const sdk = fileURLToPath(new URL('../../tests/sdk/', import.meta.url));
const sdkFolder = path.join(sdk, 'node_modules');

// Loads the packages installed in the clients' folder.
export const require = createRequire(path.join(sdk, 'package.json'));

// One compiler program over all declaration files: they share their libraries.
export function readTypes(files) {
  const ts = require('typescript');
  const program = ts.createProgram(files.map((file) => path.join(sdkFolder, file)), {
    strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
  });
  return new Types(ts, program);
}

class Types {
  constructor(ts, program) {
    Object.assign(this, { ts, program, checker: program.getTypeChecker(), shapes: new Map() });
  }

  // The shape of an exported type; `name` may lead through namespaces.
  shape(file, name) {
    const source = this.program.getSourceFile(path.join(sdkFolder, file));
    if (!source) throw new Error(`${file} is not installed: npm ci in tests/sdk`);
    let symbol = this.checker.getSymbolAtLocation(source);
    for (const step of name.split('.')) {
      symbol = this.checker.getExportsOfModule(symbol).find((it) => it.name === step);
      if (!symbol) throw new Error(`${file} has no type ${name}: has the vendor renamed it? See tools/shapes/roots.mjs`);
      if (symbol.flags & this.ts.SymbolFlags.Alias) symbol = this.checker.getAliasedSymbol(symbol);
    }
    return this.of(this.checker.getDeclaredTypeOfSymbol(symbol));
  }

  of(type) {
    if (!this.shapes.has(type)) {
      const made = {};
      this.shapes.set(type, made);
      const filled = this.make(type, made);
      if (filled === null || filled !== made) this.shapes.set(type, filled);
    }
    return this.shapes.get(type);
  }

  // Fills `made`, which may contain itself, or returns another shape, or null.
  make(type, made) {
    const { TypeFlags } = this.ts;
    const { flags } = type;
    if (flags & (TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never)) return null;
    if (flags & TypeFlags.Null) return { kind: 'null' };
    if (flags & TypeFlags.BooleanLiteral) return { kind: 'word', value: type.intrinsicName === 'true' };
    if (flags & (TypeFlags.StringLiteral | TypeFlags.NumberLiteral)) return { kind: 'word', value: type.value };
    if (flags & TypeFlags.StringLike) return { kind: 'string' };
    if (flags & TypeFlags.NumberLike && !type.isUnion()) return { kind: 'number' };
    if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return { kind: 'any' };
    if (type.isUnion()) return this.makeUnion(type, made);
    if (type.isIntersection() && type.types.some((it) => it.flags & TypeFlags.StringLike)) return { kind: 'string' }; // string & {}
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      const of = this.of(this.checker.getTypeArguments(type)[0]);
      return of && Object.assign(made, { kind: 'list', of });
    }
    if (flags & (TypeFlags.Object | TypeFlags.Intersection)) return this.makeObject(type, made);
    if (flags & TypeFlags.NonPrimitive) return { kind: 'any' };
    throw new Error(`no shape for ${this.checker.typeToString(type)}`);
  }

  makeUnion(type, made) {
    const { TypeFlags } = this.ts;
    if (type.flags & TypeFlags.Boolean) return { kind: 'boolean' };
    const parts = type.types.filter((it) => !(it.flags & TypeFlags.BooleanLiteral));
    const alternatives = parts.map((it) => this.of(it)).filter(Boolean);
    const truths = type.types.filter((it) => it.flags & TypeFlags.BooleanLiteral);
    if (truths.length === 2) alternatives.push({ kind: 'boolean' });
    else alternatives.push(...truths.map((it) => this.of(it)));
    if (alternatives.length === 0) return null;
    // The compiler orders a union by its internal type ids; this order depends on the union alone.
    const kinds = ['string', 'number', 'boolean', 'any', 'object', 'list', 'word', 'union', 'null'];
    const rank = (it) => `${kinds.indexOf(it.kind)} ${it.name ?? it.value ?? ''}`;
    alternatives.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
    return alternatives.length === 1 ? alternatives[0] : Object.assign(made, { kind: 'union', alternatives });
  }

  makeObject(type, made) {
    const { SymbolFlags } = this.ts;
    const name = this.nameOf(type);
    if (this.isOfTheLanguage(type) || type.getCallSignatures().length) return null;
    Object.assign(made, { kind: 'object', name, members: [], rest: null });
    for (const symbol of this.checker.getPropertiesOfType(type)) {
      if (symbol.flags & (SymbolFlags.Method | SymbolFlags.Accessor) || this.isHeader(symbol)) continue;
      const shape = this.of(this.checker.getTypeOfSymbol(symbol));
      if (shape) made.members.push({ name: symbol.name, isOptional: Boolean(symbol.flags & SymbolFlags.Optional), shape });
    }
    const index = this.checker.getStringIndexType?.(type) ?? this.checker.getIndexInfosOfType(type)[0]?.type;
    made.rest = index ? this.of(index) : null;
    // A class with only methods has no JSON value; an empty object has one.
    return made.members.length === 0 && !made.rest && this.checker.getPropertiesOfType(type).length ? null : made;
  }

  // Parameters that the client sends outside the document.
  isHeader(symbol) {
    return /^Header param:/.test(this.ts.displayPartsToString(symbol.getDocumentationComment(this.checker)));
  }

  // AbortSignal, Date, Promise: never sent.
  isOfTheLanguage(type) {
    const file = type.symbol?.declarations?.[0]?.getSourceFile();
    return Boolean(file && type.symbol.name !== '__type' && this.program.isSourceFileDefaultLibrary(file));
  }

  nameOf(type) {
    const symbol = type.aliasSymbol ?? type.symbol;
    if (!symbol || symbol.name.startsWith('__')) return '';
    const names = [symbol.name];
    for (let up = symbol.parent; up && !up.name.startsWith('"'); up = up.parent) names.unshift(up.name);
    return names.join('.');
  }
}
