// The inside of the worker: `tools`, the queue of events to the agent, and the program's one run.
// There is no function of the host here: the worker calls `enter` and carries JSON text, nothing else.

const OWN_LINES = 100000; // the prelude stands behind that many empty lines, programs above it
const PART = 1 << 18; // characters of events in one frame, one event at least

const queue = blank();
let queued = 0;
let taken = 0;
let over = false; // true when nothing that happens counts any more

function emit(event) {
  if (!over) queue[queued++] = event;
}

// The next frame of events; empty where there are none.
function take() {
  if (taken === queued) return "";
  let text = "";
  while (taken < queued && text.length < PART) {
    text += (text ? "," : "") + queue[taken];
    delete queue[taken++];
  }
  return flat(`{"out":[${text}]}`);
}

// When the worker has to look again, or `more`, and behind a line end the next frame: one entry for a whole turn.
function turn() {
  const text = take();
  return flat(`${taken < queued ? "more" : restTime()}\n${text}`);
}

// What is left when the program was ended: calls that were not handed over are dropped.
function takeRest() {
  for (let at = taken; at < queued; at++) if (slice(queue[at], 0, 7) === '["call"') queue[at] = "null";
  return take();
}

// Results. What a call resolves to has the members ok, value and text; using it as if it were its value throws.

const MEMBERS = {
  string:
    "charAt charCodeAt codePointAt endsWith localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search split startsWith substring substr toLowerCase toUpperCase trim trimEnd trimStart",
  both: "at concat includes indexOf lastIndexOf length slice",
  array:
    "copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach join keys map pop push reduce reduceRight reverse shift some sort splice toSorted toReversed unshift values",
};
const guards = blank(); // prototypes of results, by the name of the tool
const resultMark = Symbol("result");

const isResult = (item) => item[resultMark] === true;

function guardFor(shown) {
  if (guards[shown]) return guards[shown];
  const guard = create(Object.prototype);
  const forbid = (member, path) => {
    const get = function () {
      throw new TypeError(`${shown} returned a result object; use ${advice(this.value, path)}`);
    };
    define(guard, member, { get, set: undefined, configurable: true });
  };
  for (const kind in MEMBERS) {
    for (const member of MEMBERS[kind].split(" ")) forbid(member, `.${member}`);
  }
  forbid(Symbol.iterator, "");
  forbid(Symbol.toPrimitive, "");
  forbid("toString", ".toString()");
  forbid("valueOf", "");
  // As JSON a result is its value: the text says the same once more.
  define(guard, "toJSON", {
    value() {
      return this.text === this.value ? { ok: true, value: this.value } : withoutText(this);
    },
  });
  define(guard, resultMark, { value: true });
  return (guards[shown] = guard);
}

function withoutText(result) {
  const plain = { ok: true, value: result.value };
  if (result.meta) plain.meta = result.meta;
  return plain;
}

function advice(value, path) {
  const inner = typeof value === "object" && value !== null && !isArray(value);
  if (inner && path && typeof value.text === "string") {
    return `.value.text${path}: .value is an object here, so .value${path} is wrong too`;
  }
  return `.value${path}`;
}

function success(shown, given) {
  const result = create(guardFor(shown));
  result.ok = true;
  result.value = "value" in given ? given.value : given.parse ? parsed(given.text) : given.text;
  result.text = given.text;
  if (given.meta) result.meta = given.meta;
  return result;
}

// What a server sent as text, where it is JSON.
function parsed(text) {
  const value = safely(() => parse(text), text);
  return typeof value === "object" && value !== null ? value : text;
}

const refusal = (kind, message) => ({ ok: false, error: { kind, message } });

// Calls.

const SHORT = 200; // characters of arguments that stand in a frame as they are: too few to be nested too deep
const REFUSED_MORE = 100; // calls beyond the limit that are answered before the program is ended
const waiting = blank();
const shownNames = blank();
let issued = 0;
let openCalls = 0;
let refused = 0;

const MOST_LINES = 1000; // stacks whose line is kept: reading one takes longer than all else of a call
let knownLines = blank();
let knownCount = 0;

// The line of the program that is being run.
function currentLine() {
  const stack = new ErrorClass("").stack;
  if (typeof stack !== "string") return 0;
  const known = knownLines[stack];
  if (known !== undefined) return known;
  if (knownCount++ === MOST_LINES) {
    knownLines = blank();
    knownCount = 0;
  }
  return (knownLines[stack] = lineIn(stack));
}

function lineIn(stack) {
  for (let at = 0; (at = find(stack, "<input>:", at)) >= 0; ) {
    at += 8;
    const line = +slice(stack, at, find(stack, ":", at));
    if (line > 0 && line < OWN_LINES) return line - 1;
  }
  return 0;
}

function argumentText(given) {
  if (given.length === 0 || (given.length === 1 && given[0] === undefined)) return "{}";
  if (given.length > 1) throw new TypeError(`expected one object argument, got ${given.length} arguments`);
  const argument = given[0];
  if (typeof argument !== "object" || argument === null || isArray(argument)) {
    throw new TypeError(`expected one object argument, got ${isArray(argument) ? "an array" : typeof argument}`);
  }
  const text = carry(argument, isResult);
  if (typeof text !== "string" || text[0] !== "{") throw new TypeError("expected one object argument");
  return text;
}

// `named`: the name as JSON text.
function invoke(named, shown, given) {
  if (issued >= limits.calls) return refuseCall();
  const number = ++issued;
  let text = "";
  let fault = "";
  try {
    text = argumentText(given);
    if (text.length > limits.argument) {
      fault = `the arguments have ${text.length} characters; at most ${limits.argument} are taken`;
    }
  } catch (error) {
    const message = safely(() => error.message, "");
    fault = typeof message === "string" && message ? slice(message, 0, 500) : "the arguments cannot be read";
  }
  const carried = fault ? '""' : text.length <= SHORT ? text : quote(text);
  emit(`["call",${number},${named},${carried},${currentLine()},${fault ? quote(fault) : '""'}]`);
  shownNames[number] = shown;
  openCalls++;
  return new PromiseClass((resolve) => {
    waiting[number] = resolve;
  });
}

function refuseCall() {
  const message = `a program may make ${limits.calls} calls; this one was not made`;
  if (++refused <= REFUSED_MORE) return new PromiseClass((resolve) => resolve(refusal("call_limit", message)));
  if (refused === REFUSED_MORE + 1) emit('["fail","call_limit"]');
  throw new ErrorClass(message);
}

function settle(number, given) {
  const resolve = waiting[number];
  if (!resolve) return;
  delete waiting[number];
  openCalls--;
  resolve(given.ok === true ? success(shownNames[number], given) : given);
  delete shownNames[number];
}

// The names of tools: as they are, as identifiers, and by their letters and digits alone.

const byName = blank();
const byPlain = blank();
const callers = blank();
const shortNames = [];
const realNames = [];

function plain(name) {
  let text = "";
  for (let at = 0; at < name.length; at++) {
    const code = codeAt(name, at);
    const counts = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
    if (counts) text += name[at];
  }
  return lower(text);
}

const spelled = (real) => {
  for (let at = 0; at < realNames.length; at++) {
    if (realNames[at] === real) return shortNames[at] ? `tools.${shortNames[at]}` : `tools[${quote(real)}]`;
  }
  return real;
};

function learnNames(pairs) {
  for (const [short, real] of pairs) {
    shortNames[shortNames.length] = short;
    realNames[realNames.length] = real;
    const letters = plain(real);
    byPlain[letters] = letters in byPlain ? "" : real;
  }
  for (const [short, real] of pairs) if (short) byName[short] = real;
  for (const [, real] of pairs) byName[real] = real;
}

function callerFor(name) {
  const real = byName[name] || byPlain[plain(name)];
  if (!real) throw new ReferenceError(unknown(name));
  if (!callers[real]) {
    const shown = spelled(real);
    const named = quote(real);
    callers[real] = (...given) => invoke(named, shown, given);
  }
  return callers[real];
}

function unknown(name) {
  const letters = slice(plain(name), 0, 100);
  const near = [];
  for (let at = 0; at < realNames.length; at++) {
    const other = plain(realNames[at]);
    const far = distance(letters, other);
    if (letters === other || far <= Math.max(1, letters.length / 3) || (letters && find(other, letters) >= 0)) {
      near[near.length] = [letters === other ? -1 : far, spelled(realNames[at])];
    }
  }
  near.sort((one, other) => one[0] - other[0]);
  const names = near.slice(0, 3).map((entry) => entry[1]).join(" or ");
  const hint = names ? `did you mean ${names}?` : "ALL_TOOLS lists the tools; others must be found with tool_search first";
  return `there is no tool called ${quote(name)}: ${hint}`;
}

// Edits that lead from one text to the other; two letters in the wrong order are one.
function distance(one, other) {
  let earlier = [];
  let row = [];
  for (let at = 0; at <= other.length; at++) row[at] = at;
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) next[j] = Math.min(next[j], earlier[j - 2] + 1);
    }
    earlier = row;
    row = next;
  }
  return row[other.length];
}

const PASSED_OVER = { then: true, toJSON: true, constructor: true, __proto__: null };

const tools = new Proxy(blank(), {
  get: (target, name) => (typeof name !== "string" || PASSED_OVER[name] ? undefined : callerFor(name)),
  has: (target, name) => typeof name === "string" && !!(byName[name] || byPlain[plain(name)]),
  ownKeys: () => realNames.map((real, at) => shortNames[at] || real),
  getOwnPropertyDescriptor: (target, name) =>
    typeof name === "string" && byName[name]
      ? { value: callerFor(name), enumerable: true, configurable: true, writable: false }
      : undefined,
  set: () => {
    throw new TypeError("tools cannot be changed");
  },
  defineProperty: () => false,
  deleteProperty: () => false,
  setPrototypeOf: () => false,
});

// The run.

function finish(value) {
  if (over) return;
  const seen = blank();
  let text;
  try {
    text = value === undefined ? null : show(value, seen);
  } catch (error) {
    return fail(error, "the result cannot be shown");
  }
  if (text !== null && printed + text.length > limits.result) return endTooLarge(printed + text.length);
  let kinds = "";
  for (const kind in seen) kinds += (kinds ? "," : "") + quote(kind);
  emit(`["done",${text === null ? "null" : quote(text)},[${kinds}]]`);
  over = true;
}

function endTooLarge(size) {
  emit(`["fail","too_large",${size}]`);
  over = true;
  throw STOP;
}

function fail(error, where) {
  if (over || error === STOP) return;
  const textOf = (read) => {
    const text = safely(read, "");
    return quote(typeof text === "string" ? slice(text, 0, 8000) : "");
  };
  const known = safely(() => error instanceof ErrorClass, false);
  const name = known ? textOf(() => error.name) : '""';
  const message = textOf(known ? () => error.message : () => show(error));
  const stack = known ? textOf(() => error.stack) : '""';
  const kind = error === null ? '"null"' : '""';
  emit(`["error",${name},${message},${stack},${quote(where || "")},${kind}]`);
  over = true;
}

async function run(entry, called) {
  try {
    let value = await entry();
    const isClass = typeof value === "function" && find(sourceOf(value), "class") === 0;
    if (called && typeof value === "function" && !isClass) value = await value();
    finish(value);
  } catch (error) {
    fail(error);
  }
}

function begin(frame, { names, listed }) {
  for (const name in frame.limits) limits[name] = frame.limits[name];
  for (const key in frame.store) {
    kept[key] = frame.store[key];
    keptSize += kept[key].length;
    keptCount++;
  }
  learnNames(names);
  const present = {
    tools, console: consoleObject, must: (given) => must(given), sh, sleep, store, load, text, image, exit, setTimeout, clearTimeout,
    structuredClone, ALL_TOOLS: listed,
  };
  for (const name in present) {
    define(globalThis, name, { value: present[name], writable: true, configurable: true, enumerable: false });
  }
  const program = compile(frame.code);
  if (program.error) {
    const { message, stack } = program.error;
    emit(`["syntax",${quote(`${message}`)},${quote(`${stack}`)}]`);
    over = true;
    return;
  }
  emit(`["begun",${stringify(program.shift)}]`);
  run(program.entry, program.called);
}

function receive(text) {
  const frame = parse(text);
  if (frame.run) return begin(frame.run, frame.tools);
  for (let at = 0; at < frame.replies.length; at++) settle(frame.replies[at][0], frame.replies[at][1]);
}

// Where the engine is not the one this was written for: what is wrong with it, else nothing.
function probe() {
  const needed = [Object.groupBy, Promise.withResolvers, Array.fromAsync, "".isWellFormed, ArrayBuffer.prototype.transfer];
  for (const each of needed) if (typeof each !== "function") return "it lacks parts of ES2024";
  return "";
}

const entries = {
  receive, turn, takeRest, fire, restTime, probe, __proto__: null,
};

return (name, given) => entries[name](given);
