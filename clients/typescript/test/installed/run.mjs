/** Prints the name of the key, as a program with the installed package does. */

import { Desk } from "sealdesk";

const { name } = await Desk.fromEnvironment().whoami();
console.log(name);
