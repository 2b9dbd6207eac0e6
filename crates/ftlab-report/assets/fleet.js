"use strict";
// Assembles the page of a fleet.

{
  ftlab.setUpTables();
  ftlab.setUpTheme();
  ftlab.setUpCopy();
}
