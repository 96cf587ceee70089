// What the prelude keeps of the language before any program runs, and how values become text.
// All files of the prelude are joined into one strict function; a program cannot reach its variables.

const apply = Reflect.apply;
const uncurry = (method) => (self, ...given) => apply(method, self, given);
const create = Object.create;
const define = Object.defineProperty;
const keysOf = Object.keys;
const isArray = Array.isArray;
const ErrorClass = Error;
const PromiseClass = Promise;
const { parse, stringify } = JSON;
const slice = uncurry(String.prototype.slice);
const find = uncurry(String.prototype.indexOf);
const codeAt = uncurry(String.prototype.charCodeAt);
const lower = uncurry(String.prototype.toLowerCase);
const replaceAll = uncurry(String.prototype.replaceAll);
const isWellFormed = uncurry(String.prototype.isWellFormed);
const symbolText = uncurry(Symbol.prototype.toString);
const sourceOf = uncurry(Function.prototype.toString);
const regexText = uncurry(RegExp.prototype.toString);
const mapSize = uncurry(Object.getOwnPropertyDescriptor(Map.prototype, "size").get);
const setSize = uncurry(Object.getOwnPropertyDescriptor(Set.prototype, "size").get);
const clock = apply(Function.prototype.bind, performance.now, [performance]);

const MapClass = Map;
const SetClass = Set;
const RegExpClass = RegExp;
const WEAK = [WeakMap, "WeakMap", WeakSet, "WeakSet", WeakRef, "WeakRef"];
const isView = ArrayBuffer.isView;
const BufferClass = ArrayBuffer;

// An object without a prototype: what is set on it meets no setter of the program's.
const blank = () => create(null);

// A string without the engine's inner tree of parts, which the binding cannot carry.
const flat = (text) => slice(text, 0);

// JSON text of a string: NUL, quotes and lone surrogates escaped.
const quote = (text) => stringify(flat(text));

function safely(read, otherwise) {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function nameOf(item) {
  const name = safely(() => item.name, "");
  return typeof name === "string" && name ? name : "anonymous";
}

// Text for a value that JSON would drop or distort; null for one that it carries as it is.
function special(item) {
  switch (typeof item) {
    case "bigint":
      return `${item}n`;
    case "symbol":
      return symbolText(item);
    case "function":
      return `[function ${nameOf(item)}]`;
    case "number":
      return item - item === 0 ? null : `${item}`;
    case "object":
      return item === null ? null : specialObject(item);
    default:
      return null;
  }
}

function specialObject(item) {
  if (item instanceof MapClass) return `Map(${mapSize(item)})`;
  if (item instanceof SetClass) return `Set(${setSize(item)})`;
  if (item instanceof ErrorClass) return errorText(item);
  if (item instanceof RegExpClass) return regexText(item);
  if (item instanceof PromiseClass) return "[promise]";
  if (isView(item)) return `${nameOf(item.constructor)}(${item.byteLength})`;
  if (item instanceof BufferClass) return `ArrayBuffer(${item.byteLength})`;
  for (let at = 0; at < WEAK.length; at += 2) if (item instanceof WEAK[at]) return `[${WEAK[at + 1]}]`;
  return null;
}

function errorText(error) {
  const message = safely(() => error.message, "");
  return `${nameOf(error)}: ${typeof message === "string" ? message : ""}`;
}

// JSON text of a value for people and the model: cycles are marked, what JSON lacks is described.
// `seen`, where given, receives the kinds that were only described.
function show(value, seen) {
  if (typeof value === "string") return value;
  const alone = special(value);
  if (alone !== null) {
    if (seen && typeof value === "object") seen[kindOf(value)] = true;
    return alone;
  }
  const trail = blank();
  let depth = 0;
  const text = stringify(value, function (key, item) {
    const described = special(item);
    if (described !== null) {
      if (seen) seen[kindOf(item)] = true;
      return described;
    }
    if (typeof item !== "object" || item === null) return item;
    while (depth && trail[depth - 1] !== this) depth--;
    for (let at = 0; at < depth; at++) if (trail[at] === item) return "[circular]";
    trail[depth++] = item;
    return item;
  });
  return text === undefined ? "undefined" : text;
}

function kindOf(item) {
  if (typeof item !== "object") return typeof item;
  if (item instanceof MapClass) return "Map";
  if (item instanceof SetClass) return "Set";
  if (item instanceof PromiseClass) return "promise";
  return "other";
}

// JSON text of a value that must arrive as it is; throws, with the reason, for what JSON cannot carry.
function carry(value, isResult) {
  return stringify(value, function (key, item) {
    const before = this[key]; // a result has turned into its value by now
    const found = typeof before === "object" && before !== null && isResult(before) ? before : item;
    const reason = isWellFormed(key) ? obstacle(found, isResult) : HALF;
    if (reason) throw new TypeError(`${key ? `\`${key}\`` : "it"} ${reason}`);
    return item;
  });
}

const HALF = "holds half of a surrogate pair; make the text whole with .toWellFormed()";

function obstacle(item, isResult) {
  if (typeof item === "object" && item !== null) {
    if (isResult(item)) return "is the result object of a call; pass its .value";
    if (item instanceof PromiseClass) return "is a promise; await it first";
  } else if (typeof item === "string" && !isWellFormed(item)) {
    return HALF;
  }
  const described = special(item);
  if (described === null || item instanceof ErrorClass || item instanceof RegExpClass) return "";
  return `is ${described}, which JSON cannot carry`;
}

// Deep recursion and exhausted memory end the engine's own errors up in the binding, which formats them.
// These members keep a program's changes to Error out of that.
for (const [key, value] of [
  ["toString", function () { return `InternalError: ${this.message}`; }],
  [Symbol.toPrimitive, function () { return `InternalError: ${this.message}`; }],
  ["name", "InternalError"],
  ["stack", ""],
]) {
  define(InternalError.prototype, key, { value, writable: false, configurable: false });
}
