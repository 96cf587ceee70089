// What programs find beside `tools`: console, must, sh, store, load, timers, and names of other dialects.

const limits = blank(); // filled by the frame that starts the program
const kept = blank(); // JSON text by key
let keptSize = 0;
let keptCount = 0;
let logged = 0;
let printed = 0;

function log(level, items) {
  if (logged >= limits.log) return;
  let text = "";
  for (let at = 0; at < items.length; at++) {
    text += (at ? " " : "") + safely(() => show(items[at]), "[cannot be shown]");
  }
  text = slice(text, 0, limits.log - logged);
  logged += text.length + 1;
  emit(`["log",${quote(level)},${quote(text)}]`);
}

const consoleObject = {
  log: (...items) => log("log", items),
  info: (...items) => log("log", items),
  debug: (...items) => log("log", items),
  dir: (item) => log("log", [item]),
  table: (item) => log("log", [item]),
  trace: (...items) => log("log", items),
  warn: (...items) => log("warn", items),
  error: (...items) => log("error", items),
  assert: (holds, ...items) => {
    if (!holds) log("error", ["Assertion failed:", ...items]);
  },
};

// `stack`: where the program called it, since what comes after a wait does not know that any more.
function must(given, stack) {
  if (given instanceof PromiseClass) return mustLater(given, new ErrorClass("").stack);
  if (isArray(given)) {
    const values = [];
    for (let at = 0; at < given.length; at++) {
      define(values, at, { value: must(given[at], stack), writable: true, enumerable: true, configurable: true });
    }
    return values;
  }
  if (given && given.ok === true) return given.value;
  if (!given || given.ok !== false) {
    throw new TypeError("must takes the result of a tool call, or a promise of one");
  }
  const error = new ErrorClass(given.error.message);
  error.name = "ToolError";
  error.kind = given.error.kind;
  if (typeof stack === "string") define(error, "stack", { value: stack, configurable: true, writable: true });
  throw error;
}

async function mustLater(promise, stack) {
  return must(await promise, stack);
}

function shellWord(value) {
  if (isArray(value)) {
    let words = "";
    for (let at = 0; at < value.length; at++) words += (at ? " " : "") + shellWord(value[at]);
    return words;
  }
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw new TypeError(`sh takes text, numbers and arrays of these, not ${show(value)}`);
  }
  const text = `${value}`;
  if (find(text, "\0") >= 0) throw new TypeError("sh: no word of a command can hold a NUL character");
  return `'${replaceAll(text, "'", () => "'\\''")}'`;
}

function sh(strings, ...values) {
  const parts = strings && strings.raw;
  if (!isArray(parts)) throw new TypeError("sh is a tag: write sh`grep -n ${text} ${files}`");
  let command = parts[0];
  for (let at = 0; at < values.length; at++) command += shellWord(values[at]) + parts[at + 1];
  return flat(command);
}

function store(key, value) {
  if (typeof key !== "string" || !key || key.length > 200) {
    throw new TypeError("store: the key must be text of 1 to 200 characters");
  }
  const text = value === undefined ? "" : carry(value, isResult);
  if (text === undefined) throw new TypeError("store: the value must be JSON");
  if (text.length > limits.value) {
    throw new RangeError(`store: ${text.length} characters is over the limit of ${limits.value} for one value`);
  }
  const size = keptSize + text.length - (kept[key] || "").length;
  if (size > limits.store) throw new RangeError(`store: all values together may have ${limits.store} characters`);
  const isNew = text && kept[key] === undefined;
  if (isNew && keptCount >= limits.keys) throw new RangeError(`store: at most ${limits.keys} keys can be kept`);
  if (isNew) keptCount++;
  if (!text && kept[key] !== undefined) keptCount--;
  keptSize = size;
  if (text) kept[key] = flat(text);
  else delete kept[key];
  emit(`["store",${quote(key)},${text ? quote(text) : "null"}]`);
}

function load(key) {
  const text = typeof key === "string" ? kept[key] : undefined;
  return text === undefined ? undefined : parse(text);
}

function structuredClone(value) {
  const text = carry(value, isResult); // throws for what JSON cannot carry
  return text === undefined ? undefined : parse(text);
}

function text(value) {
  const shown = show(value);
  printed += shown.length + 1;
  if (printed > limits.result) endTooLarge(printed);
  emit(`["text",${quote(shown)}]`);
}

const image = () => emit('["image"]');

const STOP = blank(); // thrown by exit()

function exit(value) {
  finish(value);
  throw STOP;
}

// Timers: the worker asks when the next is due, and has it fired.

const timers = blank();
let timerCount = 0;
let waitEnd = 0; // the latest moment that any timer waits for
let waitTotal = 0;

function setTimeout(callback, delay, ...given) {
  if (typeof callback !== "function") throw new TypeError("setTimeout needs a function");
  const wanted = +delay;
  const due = clock() + (wanted > 0 ? wanted : 0);
  const from = waitEnd > clock() ? waitEnd : clock();
  if (due > from) waitTotal += due - from;
  if (waitTotal > limits.timers) {
    throw new RangeError(`the timers of one program may wait ${limits.timers / 1000} seconds in all`);
  }
  if (due > waitEnd) waitEnd = due;
  timers[++timerCount] = { due, callback, given };
  return timerCount;
}

function clearTimeout(number) {
  if (typeof number === "number") delete timers[number];
}

const sleep = (delay) => new PromiseClass((resolve) => setTimeout(resolve, delay));

function nextTimer() {
  let next = 0;
  for (const number in timers) if (!next || timers[number].due < timers[next].due) next = number;
  return next;
}

// Run the next timer if it is due; true where one was.
function fire() {
  const number = nextTimer();
  if (!number || timers[number].due > clock()) return false;
  const { callback, given } = timers[number];
  delete timers[number];
  try {
    apply(callback, undefined, given);
  } catch (error) {
    fail(error);
  }
  return true;
}

const OVER = -3;
const STALLED = -2;
const NO_TIMER = -1;

// Milliseconds until the next timer, or what else the program waits for: nothing more, nothing ever, or replies.
function restTime() {
  if (over) return OVER;
  const number = nextTimer();
  if (!number) return openCalls ? NO_TIMER : STALLED;
  const rest = timers[number].due - clock();
  return rest > 0 ? rest : 0;
}
